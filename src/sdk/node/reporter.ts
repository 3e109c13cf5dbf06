import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { PACKAGE_NAME } from '../../core/names.ts';
import type { ServiceAddress } from '../client/http-request.ts';
import { isRefusedContent, type RefusedDecision, reportDecisions } from '../client/report-decisions.ts';
import { type AddressOptions, readServiceAddress } from '../client/service-address.ts';
import { readVariable } from '../environment.ts';
import { CustomshouseError } from '../errors.ts';
import type { DecisionRecord } from '../local/audit-record.ts';
import { openSpool, type Spool, type SpooledLine, SpoolFullError } from './spool.ts';

/** The service that receives the decisions of a local guard, and the folder of those that it has not confirmed. */
export interface ReportOptions extends AddressOptions {
  /**
   * The folder of decisions that the service has not confirmed. Default: a folder for this service, agent and tenant below
   * `XDG_STATE_HOME` or `~/.local/state`, so that the next start of the program sends what is left.
   */
  readonly spool_dir?: string;
  /** The size of that folder in bytes. Default 16,777,216. */
  readonly spool_bytes_max?: number;
  /**
   * The result of a check if the folder is full. `block` (default): the check blocks, because its decision could not be
   * recorded. `drop`: the check continues, and its decision is lost and counted in `dropped`.
   */
  readonly on_spool_full?: 'block' | 'drop';
  /** The longest time that a decision waits for others before it is sent, in milliseconds. Default 1,000. */
  readonly interval_ms?: number;
  /** The time that `close` and the end of the program wait for the service, in milliseconds. Default 5,000. */
  readonly flush_timeout_ms?: number;
}

/** The state of the reports of a local guard. */
export interface ReportStatus {
  /** Decisions that wait for the service. */
  readonly waiting: number;
  /** Decisions that the service has confirmed. */
  readonly recorded: number;
  /** Decisions that the service refused. They are in `refused.jsonl` in the spool folder, up to 1 MiB. */
  readonly refused: number;
  /** Decisions that were lost because the spool was full; only with `on_spool_full: 'drop'`. */
  readonly dropped: number;
  /** The last failure to send, as one sentence; `null` after a success. */
  readonly last_error: string | null;
}

/** Sends the decisions of one guard in the background. */
export interface Reporter {
  /** Keeps a decision. Throws if it can neither be kept nor be dropped. */
  readonly write: (record: DecisionRecord) => void;
  readonly status: () => ReportStatus;
  /** Sends what waits. Returns `true` if the service has confirmed everything in time. */
  readonly flush: () => Promise<boolean>;
  /** Flushes, and leaves the rest in the spool folder. */
  readonly close: () => Promise<void>;
}

const SPOOL_BYTES_MAX = 16_777_216;
const INTERVAL_MS = 1_000;
const FLUSH_TIMEOUT_MS = 5_000;
/** The limits of one batch. The service takes twice as many bytes. */
const BATCH_LINES_MAX = 256;
const BATCH_BYTES_MAX = 524_288;
/** The pause after the first failure; it doubles up to the longest one. In milliseconds. */
const PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;
const FLUSH_PAUSE_MS_MAX = 500;

interface ReporterState {
  readonly address: ServiceAddress;
  readonly spool: Spool;
  readonly interval_ms: number;
  readonly flush_timeout_ms: number;
  recorded: number;
  refused: number;
  dropped: number;
  last_error: string | null;
  /** Failures since the last success. */
  failures: number;
  timer: NodeJS.Timeout | null;
  /** The request that is under way. */
  sending: Promise<void> | null;
  is_closed: boolean;
}

/**
 * Opens the reporter of a guard.
 *
 * @throws CustomshouseError if an option or the spool folder cannot be used
 */
export function openReporter(options: ReportOptions, agentId: string, tenantId: string): Reporter {
  const address = readServiceAddress(options);
  const onFull = readOnFull(options);
  const dir = options.spool_dir ?? nameSpoolFolder(address.url, agentId, tenantId);
  const spool = openSpool(dir, options.spool_bytes_max ?? SPOOL_BYTES_MAX);
  const state: ReporterState = {
    address,
    spool,
    interval_ms: options.interval_ms ?? INTERVAL_MS,
    flush_timeout_ms: options.flush_timeout_ms ?? FLUSH_TIMEOUT_MS,
    ...{ recorded: 0, refused: 0, dropped: 0, last_error: null, failures: 0 },
    ...{ timer: null, sending: null, is_closed: false },
  };
  const atExit: ExitTask = { has_new: false, flush: () => flushReports(state), closeFiles: spool.close };
  watchExit(atExit);
  // Decisions of an earlier process are sent before the first one of this process.
  scheduleSend(state, 0);
  return {
    write: (record) => {
      try {
        spool.append(JSON.stringify(record));
      } catch (error) {
        if (!(error instanceof SpoolFullError) || onFull === 'block') throw error;
        state.dropped += 1;
        return;
      }
      atExit.has_new = true;
      scheduleSend(state, state.interval_ms);
    },
    status: () => {
      const { recorded, refused, dropped, last_error } = state;
      return { waiting: spool.length(), recorded, refused, dropped, last_error };
    },
    flush: () => flushReports(state),
    close: async () => {
      if (state.is_closed) return;
      await flushReports(state);
      state.is_closed = true;
      clearTimeout(state.timer ?? undefined);
      exitTasks.delete(atExit);
      await state.sending;
      spool.close();
    },
  };
}

/** Sends one batch, one request at a time, so that lines are confirmed in their order. Never rejects. */
function sendNext(state: ReporterState): Promise<void> {
  state.sending ??= sendBatch(state).finally(() => {
    state.sending = null;
  });
  return state.sending;
}

async function sendBatch(state: ReporterState): Promise<void> {
  const { spool } = state;
  try {
    if (spool.length() === 0) spool.adopt();
    const lines = spool.peek(BATCH_LINES_MAX, BATCH_BYTES_MAX);
    if (lines.length > 0) await sendLines(state, lines);
    // Decisions that other processes left follow when none of this one waits.
    if (spool.length() === 0) spool.adopt();
    state.failures = 0;
    state.last_error = null;
  } catch (error) {
    const { message } = error as Error;
    state.failures += 1;
    state.last_error = message;
    if (state.failures === 1)
      emitWarning(`Decisions of a local guard wait, because they cannot be sent: ${message}`);
    touchFiles(spool);
  }
}

/** Keeps other processes from taking the files over. A file that is gone has nothing to take. */
function touchFiles(spool: Spool): void {
  try {
    spool.touch();
  } catch {}
}

/** Sends lines and removes them from the queue. A batch that cannot be recorded is halved to find the reason. */
async function sendLines(state: ReporterState, lines: readonly SpooledLine[]): Promise<void> {
  const records = lines.map(({ line }) => JSON.parse(line) as DecisionRecord);
  try {
    const { recorded, refused } = await reportDecisions(state.address, records);
    keepRefused(state, lines, refused);
    state.recorded += recorded;
  } catch (error) {
    if (!isRefusedContent(error)) throw error;
    if (lines.length > 1) {
      const middle = lines.length >> 1;
      await sendLines(state, lines.slice(0, middle));
      await sendLines(state, lines.slice(middle));
      return;
    }
    const { message } = error as Error;
    const refusal = { event_id: records[0]!.event_id, code: 'invalid_request', reason: message };
    keepRefused(state, lines, [refusal]);
  }
  state.spool.confirm(lines);
}

function keepRefused(
  state: ReporterState,
  lines: readonly SpooledLine[],
  refused: readonly RefusedDecision[],
): void {
  const [first] = refused;
  if (first === undefined) return;
  const ids = refused.map(({ event_id }) => event_id);
  for (const { line } of lines) if (ids.some((id) => line.includes(id))) state.spool.setAside(line);
  state.refused += refused.length;
  emitWarning(`The service refused ${refused.length} decisions of a local guard: ${first.reason}`);
}

function scheduleSend(state: ReporterState, pauseMs: number): void {
  if (state.is_closed || state.timer !== null) return;
  state.timer = setTimeout(async () => {
    await sendNext(state);
    state.timer = null;
    const waiting = state.spool.length();
    if (state.failures > 0) scheduleSend(state, getPause(state.failures, PAUSE_MS_MAX));
    else if (waiting > 0) scheduleSend(state, waiting >= BATCH_LINES_MAX ? 0 : state.interval_ms);
  }, pauseMs).unref();
}

async function flushReports(state: ReporterState): Promise<boolean> {
  const endsMs = performance.now() + state.flush_timeout_ms;
  for (;;) {
    await waitWithin(sendNext(state), endsMs);
    if (state.spool.length() === 0 && state.failures === 0) return true;
    const leftMs = endsMs - performance.now();
    if (leftMs <= 0) return false;
    if (state.failures > 0) await pauseFor(Math.min(getPause(state.failures, FLUSH_PAUSE_MS_MAX), leftMs));
  }
}

/** The work of one reporter at the end of the program. */
interface ExitTask {
  /** `true` if there are decisions since the last flush at the end of the program. */
  has_new: boolean;
  readonly flush: () => Promise<boolean>;
  readonly closeFiles: () => void;
}

const exitTasks = new Set<ExitTask>();
let isWatching = false;

/** Flushes at the end of the program. `process.exit` and signals skip it; the spool folder keeps the decisions then. */
function watchExit(task: ExitTask): void {
  exitTasks.add(task);
  if (isWatching) return;
  isWatching = true;
  process.on('beforeExit', () => {
    for (const each of exitTasks) {
      // The event is emitted again after the flush, so that a second one would never end.
      if (!each.has_new) continue;
      each.has_new = false;
      void each.flush();
    }
  });
  process.on('exit', () => {
    for (const { closeFiles } of exitTasks) closeFiles();
  });
}

function readOnFull({ on_spool_full = 'block' }: ReportOptions): 'block' | 'drop' {
  if (on_spool_full === 'block' || on_spool_full === 'drop') return on_spool_full;
  throw new CustomshouseError('`on_spool_full` must be `block` or `drop`.');
}

function nameSpoolFolder(url: string, agentId: string, tenantId: string): string {
  const base = readVariable('XDG_STATE_HOME') ?? join(homedir(), '.local', 'state');
  // Not by the key, because the decisions of an agent survive a rotation of its key.
  const name = createHash('sha256')
    .update(JSON.stringify([url, agentId, tenantId]))
    .digest('hex');
  return join(base, PACKAGE_NAME, 'spool', name.slice(0, 16));
}

function getPause(failures: number, pauseMsMax: number): number {
  const pauseMs = Math.min(PAUSE_MS * 2 ** Math.min(failures - 1, 16), pauseMsMax);
  return pauseMs * (0.5 + Math.random() / 2);
}

function pauseFor(pauseMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, pauseMs)));
}

/** Waits for a request, but not longer than the flush may take. */
async function waitWithin(request: Promise<unknown>, endsMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, Math.max(0, endsMs - performance.now()));
  });
  await Promise.race([request, late]);
  clearTimeout(timer);
}

function emitWarning(message: string): void {
  process.emitWarning(message, 'CustomshouseWarning');
}
