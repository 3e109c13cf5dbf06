import { join } from 'node:path';
import { findTail } from './chain-end.ts';
import { listWriters } from './files.ts';
import type { ArrivalOrder, ArrivalStep } from './order.ts';
import { type ChainBlock, type ChainPosition, FROM_START, readChain } from './reader.ts';

/**
 * Reconciles the order file with the index: after a stop either may be behind the other, and either may have been
 * deleted.
 *
 * @param positions - the position up to which each chain is indexed
 * @returns the steps that the index lacks, in the order to read them
 */
export async function findStepsToRead(
  order: ArrivalOrder,
  journalDir: string,
  positions: ReadonlyMap<string, ChainPosition>,
): Promise<readonly ArrivalStep[]> {
  const { kept } = order;
  if (kept === null)
    return positions.size > 0 ? startAfterIndex(order, positions) : readFromStart(order, journalDir);
  const noted = new Map(kept.map(({ writer, seq }) => [writer, seq]));
  for (const [writer, { seq }] of positions)
    if (seq > (noted.get(writer) ?? 0)) order.note({ writer, seq, ordered: true });
  return kept.filter(({ writer, seq }) => seq > (positions.get(writer)?.seq ?? 0));
}

/** Starts an order file for an index that was filled before the order file existed. The index keeps its own order. */
function startAfterIndex(
  order: ArrivalOrder,
  positions: ReadonlyMap<string, ChainPosition>,
): readonly ArrivalStep[] {
  for (const [writer, { seq }] of positions) order.note({ writer, seq, ordered: false });
  return [];
}

/** Starts without index and order file. Then the order is known only if the journal has a single chain. */
async function readFromStart(order: ArrivalOrder, journalDir: string): Promise<readonly ArrivalStep[]> {
  const writers = await listWriters(journalDir);
  const steps: ArrivalStep[] = [];
  for (const writer of writers) {
    // Other code reports a chain that cannot be continued.
    const tail = await findTail(join(journalDir, writer), writer).catch(() => null);
    if (tail !== null && tail.head.seq > 0)
      steps.push({ writer, seq: tail.head.seq, ordered: writers.length < 2 });
  }
  for (const step of steps) order.note(step);
  return steps;
}

/** A part of a chain that belongs to one step. */
export interface StepBlock {
  readonly writer: string;
  readonly block: ChainBlock;
  readonly ordered: boolean;
}

/** Reads the chains in steps. Stops at a chain that was rewritten, and leaves it to the caller's full read. */
export async function* readSteps(
  journalDir: string,
  steps: readonly ArrivalStep[],
  positions: ReadonlyMap<string, ChainPosition>,
): AsyncGenerator<StepBlock> {
  const chains = new Map<string, Chain>();
  try {
    for (const { writer, seq, ordered } of steps) {
      const from = positions.get(writer) ?? FROM_START;
      const chain = chains.get(writer) ?? { blocks: readChain(join(journalDir, writer), from), rest: null };
      chains.set(writer, chain);
      for await (const block of readUpTo(chain, seq)) {
        if (block.again) return;
        yield { writer, block, ordered };
      }
    }
  } finally {
    // A chain that was not read to its end holds its file open.
    for (const { blocks } of chains.values()) await blocks.return(undefined);
  }
}

interface Chain {
  readonly blocks: AsyncGenerator<ChainBlock>;
  /** Records that were read but belong to a later step. */
  rest: ChainBlock | null;
}

async function* readUpTo(chain: Chain, seq: number): AsyncGenerator<ChainBlock> {
  for (;;) {
    const block: ChainBlock | null = chain.rest ?? (await chain.blocks.next()).value ?? null;
    if (block === null) return;
    const [now, rest] = splitBlock(block, seq);
    chain.rest = rest;
    if (now !== null) yield now;
    if (rest !== null || block.position.seq === seq) return;
  }
}

/** Splits a block into the records up to a number and the records after it. */
function splitBlock(
  block: ChainBlock,
  seq: number,
): readonly [now: ChainBlock | null, rest: ChainBlock | null] {
  if (block.position.seq <= seq) return [block, null];
  const records = block.records.filter(({ record }) => record.seq <= seq);
  const last = records.at(-1);
  if (last === undefined) return [null, block];
  const { segment } = block.position;
  const { record_hash } = last.record;
  const now = {
    ...block,
    records,
    position: { segment, offset: last.end, record_hash, seq: last.record.seq },
  };
  return [now, { ...block, records: block.records.slice(records.length), again: false }];
}
