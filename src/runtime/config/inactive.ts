import type { Problem } from '../../core/types.ts';
import { problemAt } from './problem-text.ts';
import type { Config } from './schema.ts';

/**
 * What is configured and has no effect in this version: a warning for each, so that nobody believes in a
 * protection that is not there.
 */
export function inactiveKeys(config: Omit<Config, 'origin'>, label: string): Problem[] {
  const idle: readonly (readonly [boolean, string, string])[] = [
    [config.alerts.channels.length > 0, 'alerts.channels', 'no alert is sent'],
    [config.dashboard.users.length > 0, 'dashboard.users', 'there is no dashboard'],
    [config.intelligence.enabled, 'intelligence.enabled', 'no advisor runs'],
    [config.proxy.target !== undefined, 'proxy.target', 'nothing is forwarded'],
    [config.secrets.backend !== undefined, 'secrets.backend', 'no secret is read from it'],
    [/^postgres/.test(config.storage.url ?? ''), 'storage.url', 'the embedded store is used'],
  ];
  return idle
    .filter(([configured]) => configured)
    .map(([, path, effect]) =>
      problemAt(label, path.split('.'), `is not active in this version: ${effect}`, undefined, 'warning'),
    );
}
