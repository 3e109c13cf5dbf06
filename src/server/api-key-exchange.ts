import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../platform/log.ts';
import { needsAgentToken } from '../runtime/access/index.ts';
import type { ApiKey } from '../runtime/access/settings.ts';
import { ensureToken } from '../runtime/access/tokens.ts';
import type { Config } from '../runtime/config/index.ts';
import type { Workers } from './workers.ts';

/** The API keys of the whole service: those of the configuration, and those of the store. */
export interface ApiKeyExchange {
  readonly current: () => readonly ApiKey[];
  /** Replaces the keys of the configuration. Resolves when no worker accepts the previous keys. */
  readonly useConfigured: (keys: readonly ApiKey[]) => Promise<void>;
  /** Replaces the keys of the store. Resolves when no worker accepts the previous keys. */
  readonly useStored: (keys: readonly ApiKey[]) => Promise<void>;
}

const KEYS_MS = 5_000;

/** Opens the exchange with the keys of the configuration at the start. */
export function openApiKeyExchange(config: Config, workers: () => Workers, log: Log): ApiKeyExchange {
  let keys: readonly ApiKey[] = config.auth.api_keys;

  /** Kills a worker that does not accept the keys; its successor has the new ones. */
  async function exchange(next: readonly ApiKey[]): Promise<void> {
    if (isDeepStrictEqual(keys, next)) return;
    keys = next;
    await Promise.all(
      workers()
        .serving()
        .map((worker) =>
          worker.call('api_keys', keys, KEYS_MS).catch(async () => {
            log.error(`${worker.name} did not take the new API keys, and is ended`);
            await worker.kill();
          }),
        ),
    );
    log.info('the API keys were replaced', { count: keys.length });
  }

  return {
    current: () => keys,
    useConfigured: (configured) => {
      if (needsAgentToken({ auth: { ...config.auth, api_keys: configured }, host: config.server.host }))
        ensureToken(config.state_dir, 'agent');
      return exchange([...configured, ...keys.filter(({ is_stored }) => is_stored === true)]);
    },
    useStored: (stored) => exchange([...keys.filter(({ is_stored }) => is_stored !== true), ...stored]),
  };
}
