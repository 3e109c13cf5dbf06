import { join } from 'node:path';
import type {
  AlertChannel,
  AlertChannelDriver,
  AlertMessage,
  ChannelEnvironment,
} from '../../drivers/alerts/channel.ts';
import { alertChannelDrivers } from '../../drivers/alerts/index.ts';
import type { OutboxQueue } from '../../platform/outbox/deliver.ts';
import type { Config } from '../../runtime/config/index.ts';
import { ALERT_QUEUE_PREFIX } from './alert-store.ts';
import { DEFAULT_ALERT_CHANNEL } from './rule-schema.ts';

/** The limits of one channel. Sixteen attempts take about six hours. */
const TIMEOUT_MS = 15_000;
const ATTEMPTS_MAX = 16;
const CONCURRENCY = 4;
const PER_MINUTE_MAX = 120;

/** The file of the default channel, in the state folder. */
const DEFAULT_FILE = 'alerts.jsonl';

/** Returns the queues of the outbox that send alerts, one for each channel. */
export function buildAlertQueues({
  config,
  now_ms,
}: {
  readonly config: Pick<Config, 'alerts' | 'state_dir'>;
  readonly now_ms: () => number;
}): readonly OutboxQueue[] {
  const environment: ChannelEnvironment = { env: process.env, now_ms };
  return listSections(config).map(({ name, section }) => {
    const channel = openChannel(section, environment);
    return {
      name: `${ALERT_QUEUE_PREFIX}${name}`,
      timeout_ms: TIMEOUT_MS,
      attempts_max: ATTEMPTS_MAX,
      concurrency: CONCURRENCY,
      per_minute_max: PER_MINUTE_MAX,
      send: ({ body }, signal) => channel.send(JSON.parse(body) as AlertMessage, signal),
      close: channel.close,
    };
  });
}

type ChannelSection = Config['alerts']['channels'][number];

function listSections({ alerts: { channels }, state_dir }: Pick<Config, 'alerts' | 'state_dir'>) {
  const own = channels.map((section) => ({ name: section.name ?? section.type, section }));
  if (own.some(({ name }) => name === DEFAULT_ALERT_CHANNEL)) return own;
  const file = {
    type: 'file',
    path: join(state_dir, DEFAULT_FILE),
    max_size_mb: 100,
    max_files: 10,
  } as ChannelSection;
  return [...own, { name: DEFAULT_ALERT_CHANNEL, section: file }];
}

function openChannel(section: ChannelSection, environment: ChannelEnvironment): AlertChannel {
  const driver = alertChannelDrivers.find(({ name }) => name === section.type);
  if (driver === undefined) throw new Error(`no driver sends to channels of type ${section.type}`);
  // The driver of this type accepts its section; the compiler cannot relate the two.
  return (driver as AlertChannelDriver).open(section as never, environment);
}
