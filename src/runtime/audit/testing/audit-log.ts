import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { listSegments } from '../files.ts';
import { type Journal, type JournalOptions, openJournal } from '../journal.ts';
import {
  type ChainHead,
  encodeRecord,
  formatEventJson,
  type JournalRecord,
  type RecordKind,
} from '../journal-record.ts';
import { loadPublicKeys, openSigningKey } from '../keys.ts';
import { readJournalLines } from '../lines.ts';
import { FROM_START, readChain } from '../reader.ts';
import type { AuditEvent } from '../types.ts';
import { type VerifyOptions, verifyJournal } from '../verify.ts';
import type { VerifyReport } from '../verify-report.ts';

/** The time of the first event that a test writes. */
export const START_MS = Date.parse('2026-01-31T12:00:00.000Z');

/** Returns the event number `index`, one second after the previous one. */
export function sampleEvent(index: number, fields: Partial<AuditEvent> = {}): AuditEvent {
  return {
    event_id: `evt_${index.toString(16).padStart(24, '0')}`,
    timestamp: new Date(START_MS + index * 1_000).toISOString(),
    boundary: 'input',
    decision: 'allow',
    action: 'allow',
    policy_name: 'default.allow',
    reason: 'No rule spoke.',
    data_tags: [],
    tenant_id: 'default',
    agent_id: 'agent-1',
    tool_name: null,
    session_id: null,
    source_agent_id: null,
    destination_agent_id: null,
    caller_id: 'loopback',
    context_hash: `sha256:${'0'.repeat(64)}`,
    policy_hash: `sha256:${'1'.repeat(64)}`,
    coverage: 'full',
    metadata: { phase: 'request', endpoint: 'scan_input', text_bytes: index },
    ...fields,
  };
}

/** The state folder of a test with a clock that the test sets; removed when the test ends. */
export interface AuditLog {
  readonly state: string;
  readonly dir: string;
  /** `set_ms` is the total time by which the wall clock was set; the monotonic clock excludes it. */
  readonly clock: { now_ms: number; set_ms: number };
  readonly open: (fields?: Partial<JournalOptions>) => Promise<Journal>;
  readonly verify: (fields?: Partial<VerifyOptions>) => Promise<VerifyReport>;
}

export async function makeAuditLog(
  test: TestContext,
  defaults: Partial<JournalOptions> = {},
): Promise<AuditLog> {
  const state = await mkdtemp(join(tmpdir(), 'trail-'));
  const opened: Journal[] = [];
  test.after(async () => {
    await Promise.allSettled(opened.map((journal) => journal.close()));
    await rm(state, { recursive: true, force: true });
  });
  const dir = join(state, 'journal');
  const keys = join(state, 'keys');
  const clock = { now_ms: START_MS, set_ms: 0 };
  const uptimeMs = (): number => clock.now_ms - clock.set_ms;
  const nowMs = (): number => clock.now_ms;
  return {
    state,
    dir,
    clock,
    open: async (fields = {}) => {
      const signingKey = await openSigningKey({ dir: keys, now_ms: nowMs });
      const base = {
        dir,
        writer: 'worker-1',
        max_size_bytes: 1e8,
        max_age_days: 90,
        compress_rotated: false,
      };
      const journal = await openJournal({
        ...base,
        signing_key: signingKey,
        now_ms: nowMs,
        uptime_ms: uptimeMs,
        lock_wait_ms: 0,
        ...defaults,
        ...fields,
      });
      opened.push(journal);
      return journal;
    },
    verify: async (fields = {}) => verifyJournal({ dir, public_keys: await loadPublicKeys(keys), ...fields }),
  };
}

/** Waits until a background effect holds, for at most a minute. */
export async function waitUntil(holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 6_000; tries++) {
    if (await holds()) return;
    await sleep(10);
  }
  throw new Error('it did not happen in a minute');
}

/** Appends events `from` to `to`, excluding `to`, all at once. */
export async function appendRange(journal: Journal, from: number, to: number): Promise<void> {
  const indexes = Array.from({ length: to - from }, (_, offset) => from + offset);
  await Promise.all(indexes.map((index) => journal.append(sampleEvent(index))));
}

/** Reads a writer's files with their lines, oldest first, including compressed ones. */
export async function readFiles(
  trail: AuditLog,
  writer = 'worker-1',
): Promise<{ path: string; lines: string[] }[]> {
  const segments = await listSegments(join(trail.dir, writer));
  return Promise.all(
    segments.map(async (segment) => {
      const lines: string[] = [];
      for await (const line of readJournalLines(segment))
        if (line.whole) lines.push(line.bytes.toString('utf8'));
      return { path: segment.path, lines };
    }),
  );
}

/** Returns the IDs of all events in the files, in order. Works while files are compressed and deleted. */
export async function readRecordedIds(trail: AuditLog, writer = 'worker-1'): Promise<string[]> {
  const ids: string[] = [];
  for await (const { records } of readChain(join(trail.dir, writer), FROM_START)) {
    for (const { record } of records) if (record.kind === 'event') ids.push(record.event.event_id);
  }
  return ids;
}

/** Counts the files of a writer. */
export async function countFiles(
  trail: AuditLog,
  kind: 'plain' | 'gzip',
  writer = 'worker-1',
): Promise<number> {
  return (await listSegments(join(trail.dir, writer))).filter(({ gzip }) => gzip === (kind === 'gzip'))
    .length;
}

export async function writeLines(path: string, lines: readonly string[]): Promise<void> {
  await writeFile(path, lines.map((line) => `${line}\n`).join(''));
}

/** Recomputes the hashes of a line whose body was changed, as an attacker without the key can. */
export function rehashLine(line: string, prevHash?: string): string {
  const record = JSON.parse(line) as JournalRecord;
  const head = { seq: record.seq - 1, record_hash: prevHash ?? record.prev_hash };
  const encoded = encodeRecord(head, record.writer, record.kind, formatEventJson(record, line));
  return encoded.line.slice(0, -1);
}

/** Encodes the line after `head` as the first version did: one hash over header and body. */
export function encodeOldRecord(
  head: ChainHead,
  writer: string,
  kind: RecordKind,
  bodyJson: string,
): { readonly line: string; readonly head: ChainHead } {
  const seq = head.seq + 1;
  const hashed = `{"seq":${seq},"writer":"${writer}","kind":"${kind}","prev_hash":"${head.record_hash}","${kind}":${bodyJson}`;
  const recordHash = hash('sha256', hashed, 'hex');
  return { line: `${hashed},"record_hash":"${recordHash}"}\n`, head: { seq, record_hash: recordHash } };
}
