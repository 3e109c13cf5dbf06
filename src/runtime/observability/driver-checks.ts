import type { Store } from '../../platform/store/index.ts';
import type { DriverState } from './service-state.ts';

/** The time that one part has to answer, in milliseconds. */
const CHECK_MS_MAX = 3_000;

/** Returns `late` if the answer takes too long. */
export async function limitTime<Answer>(answer: Promise<Answer>, late: Answer): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve(late), CHECK_MS_MAX);
  });
  return Promise.race([answer, limit]).finally(() => clearTimeout(timer));
}

/** Describes a part that is not configured. */
export function buildOff(kind: DriverState['kind'], name: string, detail: string): DriverState {
  return { kind, name, driver: null, status: 'off', detail };
}

/** An outbox queue, and who receives its messages. */
export interface QueueReceiver {
  readonly queue: string;
  readonly about: Pick<DriverState, 'kind' | 'name' | 'driver'>;
}

/** Reports how the newest message to each receiver ended, because a check would send one. */
export async function checkReceivers(
  store: () => Promise<Store>,
  receivers: readonly QueueReceiver[],
): Promise<readonly DriverState[]> {
  if (receivers.length === 0) return [];
  const queues = receivers.map(({ queue }) => queue);
  const reading = store().then((open) => readNewestAttempts(open, queues));
  const newest = await limitTime<Attempts | null>(reading, null).catch(() => null);
  return receivers.map(({ queue, about }) => ({ ...about, ...describeAttempt(newest, queue) }));
}

type Attempts = ReadonlyMap<string, { readonly status: string; readonly reason: string | null }>;

async function readNewestAttempts({ db }: Store, queues: readonly string[]): Promise<Attempts> {
  const newest = db
    .selectFrom('outbox_messages')
    .select((eb) => eb.fn.max('delivery_id').as('delivery_id'))
    .where('queue', 'in', [...queues])
    .where('attempts', '>', 0)
    .groupBy('queue');
  const rows = await db
    .selectFrom('outbox_messages')
    .select(['queue', 'status', 'reason'])
    .where('delivery_id', 'in', newest)
    .execute();
  return new Map(rows.map(({ queue, status, reason }) => [queue, { status, reason }]));
}

function describeAttempt(newest: Attempts | null, queue: string): Pick<DriverState, 'status' | 'detail'> {
  if (newest === null) return { status: 'unchecked', detail: 'The store does not answer.' };
  const attempt = newest.get(queue);
  if (attempt === undefined) return { status: 'unchecked', detail: 'No message was sent to it yet.' };
  if (attempt.status === 'sent') return { status: 'ok', detail: 'It accepted the newest message.' };
  return { status: 'failing', detail: attempt.reason ?? 'It did not accept the newest message.' };
}
