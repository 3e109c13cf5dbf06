import { join } from 'node:path';
import type { ArrivalOrder, Step } from './order.ts';
import { type Block, FROM_START, type Position, readChain } from './reader.ts';

/** What an index that is opened has to do with the order that was kept. */
export interface Compared {
  /** What the index lost, or never had, in the order to read it in. */
  readonly steps: readonly Step[];
  /** Whether what is read besides comes in an order that this process makes. */
  readonly ordered: boolean;
}

/**
 * Brings the order and the index together: a stop may leave the one behind the other, and either may have been deleted.
 *
 * @param positions - how far the index has read each chain
 * @param writers - how many chains there are
 */
export function compareOrder(
  order: ArrivalOrder,
  positions: ReadonlyMap<string, Position>,
  writers: number,
): Compared {
  if (order.kept === null) {
    for (const [writer, { seq }] of positions) order.note({ writer, seq, ordered: false });
    // The events of one chain alone have its order.
    return { steps: [], ordered: positions.size > 0 || writers < 2 };
  }
  const noted = new Map(order.kept.map(({ writer, seq }) => [writer, seq]));
  for (const [writer, { seq }] of positions)
    if (seq > (noted.get(writer) ?? 0)) order.note({ writer, seq, ordered: true });
  return {
    steps: order.kept.filter(({ writer, seq }) => seq > (positions.get(writer)?.seq ?? 0)),
    ordered: true,
  };
}

/** A part of a chain, as one step asks for it. */
export interface StepBlock {
  readonly writer: string;
  readonly block: Block;
  readonly ordered: boolean;
}

/** Reads the chains in steps; a chain that is not what it was is left to who reads the rest. */
export async function* readInOrder(
  journal_dir: string,
  steps: readonly Step[],
  positions: ReadonlyMap<string, Position>,
): AsyncGenerator<StepBlock> {
  const chains = new Map<string, Chain>();
  for (const { writer, seq, ordered } of steps) {
    const from = positions.get(writer) ?? FROM_START;
    const chain = chains.get(writer) ?? { blocks: readChain(join(journal_dir, writer), from), rest: null };
    chains.set(writer, chain);
    for await (const block of readUpTo(chain, seq)) {
      if (block.again) return;
      yield { writer, block, ordered };
    }
  }
}

interface Chain {
  readonly blocks: AsyncGenerator<Block>;
  /** What was read and not asked for yet. */
  rest: Block | null;
}

async function* readUpTo(chain: Chain, seq: number): AsyncGenerator<Block> {
  for (;;) {
    const block: Block | null = chain.rest ?? (await chain.blocks.next()).value ?? null;
    if (block === null) return;
    const [now, rest] = split(block, seq);
    chain.rest = rest;
    if (now !== null) yield now;
    if (rest !== null || block.position.seq === seq) return;
  }
}

/** The records of a block up to a number, and those behind it. */
function split(block: Block, seq: number): readonly [now: Block | null, rest: Block | null] {
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
