import { approvalChores, approvalDeliveries } from '../approvals/chores.ts';
import { capabilityChores } from '../capabilities/chores.ts';
import type { Config } from '../config/index.ts';
import { costChores } from '../costs/chores.ts';
import type { Log } from '../log.ts';
import { mcpChores } from '../mcp/chores.ts';
import { memoryChores } from '../memory/chores.ts';
import { sessionChores } from '../sessions/chores.ts';
import type { Chore } from '../store/housekeeping.ts';
import type { Store } from '../store/index.ts';
import type { Ports } from '../types.ts';

/** What chores are made of. */
export interface ChoreParts {
  readonly config: Config;
  readonly log: Log;
  readonly store: () => Promise<Store>;
  /** What holds now: the policy in force, the clock, the parent's journal. */
  readonly ports: () => Ports;
}

/** What the parent does for the whole service from time to time, each subject its own. */
const SUBJECTS: readonly ((parts: ChoreParts) => readonly Chore[])[] = [
  approvalChores,
  capabilityChores,
  costChores,
  sessionChores,
  memoryChores,
  mcpChores,
];

/** All chores of a service. */
export function choresOf(parts: ChoreParts): readonly Chore[] {
  return SUBJECTS.flatMap((chores) => chores(parts));
}

/** Chores that wait for other machines, and so have a turn of their own. */
export function deliveriesOf(parts: ChoreParts): readonly Chore[] {
  return approvalDeliveries(parts);
}
