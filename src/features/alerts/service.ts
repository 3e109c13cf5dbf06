import { PACKAGE_NAME } from '../../core/names.ts';
import { readPublicUrl } from '../../runtime/access/public-url.ts';
import type { Config } from '../../runtime/config/index.ts';
import { openApprovalLinks } from '../approvals/link.ts';
import { DEFAULT_ALERT_CHANNEL } from './rule-schema.ts';
import type { AlertChannelName, AlertService } from './types.ts';

/** Builds the part of alerts that every process of a service has. */
export function buildAlertService({
  config,
  port,
}: {
  readonly config: Config;
  /** The port that the service listens on. */
  readonly port: number | undefined;
}): AlertService {
  const consoleUrl = readPublicUrl(config, port);
  return {
    rules: config.alerts.rules,
    channels: listAlertChannels(config),
    source: PACKAGE_NAME,
    console_url: consoleUrl,
    links: openApprovalLinks(config.state_dir, consoleUrl),
  };
}

/** Returns the configured channels, and the default one. */
function listAlertChannels({ alerts: { channels } }: Config): readonly AlertChannelName[] {
  const own = channels.map(({ name, type }) => ({ name: name ?? type, type }));
  if (own.some(({ name }) => name === DEFAULT_ALERT_CHANNEL)) return own;
  return [...own, { name: DEFAULT_ALERT_CHANNEL, type: 'file' }];
}
