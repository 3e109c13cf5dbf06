import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { listSegments, type SegmentFile } from '../../runtime/audit/files.ts';
import { decodeRecord, type JournalRecord, omitBody } from '../../runtime/audit/journal-record.ts';
import { readJournalLines } from '../../runtime/audit/lines.ts';
import { buildBrokenChainFailure, type ChainPlan, type ChainSource } from './chain-runs.ts';
import { EvidenceFailure, throwIfCanceled } from './failure.ts';

export interface CopyOptions extends ChainSource {
  /** The events of other tenants lose their content; `null` keeps all. */
  readonly tenant_id: string | null;
  /** The file to write. */
  readonly target: string;
  /** The most bytes that may be written. */
  readonly bytes_max: number;
}

/** The records that were written for one writer. */
export interface CopiedChain {
  readonly bytes: number;
  readonly sha256: string;
  /** Events within the window, with their content. */
  readonly events: number;
  readonly omitted: number;
  readonly policy_hashes: ReadonlySet<string>;
}

const WRITE_BYTES = 1_048_576;
const LINE_FEED = Buffer.from('\n');

/**
 * Writes the runs of a chain, one line per record, exactly as in the journal. The event of another tenant and a shown action
 * are written without their bodies.
 */
export async function copyChain(plan: ChainPlan, options: CopyOptions): Promise<CopiedChain> {
  const file = await open(options.target, 'wx', 0o600);
  const digest = createHash('sha256');
  const counts = { bytes: 0, events: 0, omitted: 0 };
  const policyHashes = new Set<string>();
  let left = plan.runs.reduce((sum, { first_seq, last_seq }) => sum + last_seq - first_seq + 1, 0);
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const flush = async (): Promise<void> => {
    const block = Buffer.concat(pending);
    pending = [];
    pendingBytes = 0;
    digest.update(block);
    await file.writeFile(block);
  };
  try {
    for await (const { record, line } of readRuns(plan, options)) {
      const isOther =
        record.kind === 'event' && options.tenant_id !== null && record.event.tenant_id !== options.tenant_id;
      // An auditor gets decisions, and no call arguments.
      const isWithoutBody = isOther || record.kind === 'action';
      const text = isWithoutBody ? Buffer.from(`${omitBody(line)}\n`) : Buffer.concat([line, LINE_FEED]);
      left -= 1;
      counts.bytes += text.length;
      if (counts.bytes > options.bytes_max) throw buildTooLarge();
      if (isOther) counts.omitted += 1;
      else if (record.kind === 'event' && isInWindow(record.event.timestamp, options)) {
        counts.events += 1;
        policyHashes.add(record.event.policy_hash);
      }
      pending.push(text);
      pendingBytes += text.length;
      if (pendingBytes >= WRITE_BYTES) await flush();
    }
    await flush();
    if (left > 0)
      throw buildBrokenChainFailure(plan.writer, null, 'files were deleted while they were read. Try again');
  } finally {
    await file.close();
  }
  return { ...counts, sha256: digest.digest('hex'), policy_hashes: policyHashes };
}

/** Builds the failure of a pack that exceeds its limit. */
export function buildTooLarge(): EvidenceFailure {
  return new EvidenceFailure(
    'pack_too_large',
    'The evidence of this window is larger than a pack may be. Choose a shorter window.',
  );
}

function isInWindow(timestamp: string, { window }: ChainSource): boolean {
  const ms = Date.parse(timestamp);
  return ms >= window.since_ms && ms < window.until_ms;
}

interface RunLine {
  readonly record: JournalRecord;
  /** Valid until the next line is read. */
  readonly line: Buffer;
}

async function* readRuns({ writer, runs }: ChainPlan, source: ChainSource): AsyncGenerator<RunLine> {
  const segments = await listSegments(join(source.journal_dir, writer));
  for (const [index, segment] of segments.entries()) {
    const endSeq = segments[index + 1]?.first_seq ?? Number.POSITIVE_INFINITY;
    if (!runs.some(({ first_seq, last_seq }) => first_seq < endSeq && last_seq >= segment.first_seq))
      continue;
    yield* readSegmentRuns(`${writer}/${segment.name}`, segment, runs, source);
  }
}

async function* readSegmentRuns(
  file: string,
  segment: SegmentFile,
  runs: ChainPlan['runs'],
  source: ChainSource,
): AsyncGenerator<RunLine> {
  const lastSeq = runs.at(-1)?.last_seq ?? 0;
  let seq = segment.first_seq - 1;
  for await (const line of readJournalLines(segment)) {
    seq += 1;
    if (seq % 4_096 === 0) throwIfCanceled(source.signal);
    if (seq > lastSeq) return;
    if (!runs.some((run) => run.first_seq <= seq && seq <= run.last_seq)) continue;
    const record = line.whole ? decodeRecord(line.bytes) : { fault: 'it is not whole' };
    // It was verified just before, so it was changed meanwhile.
    if ('fault' in record || record.seq !== seq)
      throw buildBrokenChainFailure(file, seq - segment.first_seq + 1, 'it was changed while it was read');
    yield { record, line: line.bytes };
  }
}
