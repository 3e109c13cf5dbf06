import { costChores } from '../features/costs/chores.ts';
import { memoryChores } from '../features/memory/chores.ts';
import { mcpChores } from '../features/tool-pins/chores.ts';
import type { Log } from '../platform/log.ts';
import type { Chore } from '../platform/store/housekeeping.ts';
import type { Store } from '../platform/store/index.ts';
import type { Config } from '../runtime/config/index.ts';
import { approvalChores, approvalDeliveries } from '../runtime/enforcement/approvals/chores.ts';
import { capabilityChores } from '../runtime/enforcement/capabilities/chores.ts';
import { sessionChores } from '../runtime/enforcement/sessions/chores.ts';
import type { Ports } from '../runtime/enforcement/types.ts';

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
