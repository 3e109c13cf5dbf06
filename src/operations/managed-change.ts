import type { Transaction } from 'kysely';
import { Type } from '../core/schema.ts';
import type { DocumentProblem, Policy } from '../core/types/index.ts';
import type { StoreTables } from '../platform/store/index.ts';
import { createEventId } from '../runtime/audit/event-id.ts';
import { buildServiceEvent, type ServiceChange } from '../runtime/audit/service-event.ts';
import type { ClusterActivation } from '../runtime/cluster/types.ts';
import { type ManagedPolicy, readManagedPolicy } from '../runtime/managed-policy/managed-policy.ts';
import { countRevision } from '../runtime/managed-policy/revisions.ts';
import { WEAKER_PLACES_SHOWN_MAX } from '../runtime/policies/reload-report.ts';
import { activationOutput, awaitActivation } from './cluster.ts';
import { type Context, Refusal } from './operation.ts';
import { dropBlankName } from './subject.ts';

/** The audit event of a change by an operator. */
export type OperatorChange = Pick<ServiceChange, 'phase' | 'reason' | 'metadata' | 'about'>;

/** A change of the managed policy. `save` and `undo` change only the store, because a conflict runs them again. */
export interface ManagedChange {
  readonly next: (now: ManagedPolicy) => ManagedPolicy;
  readonly save: (trx: Transaction<StoreTables>) => Promise<void>;
  /** Takes the change back if the service cannot activate it. */
  readonly undo: (trx: Transaction<StoreTables>) => Promise<void>;
  readonly event: OperatorChange;
  /** `null` for a change that leaves all rules as they are. */
  readonly confirmation: Confirmation | null;
}

/** The consent to a policy that is less strict than before, with its reason. */
export interface Confirmation {
  readonly confirm_weaker?: boolean | undefined;
  readonly note?: string | null | undefined;
}

/** The input with which a caller confirms a policy that is less strict. */
export const confirmInput = {
  confirm_weaker: Type.Optional(
    Type.Boolean({
      description: 'Saves a policy that is less strict than before. Requires a `note` with the reason.',
    }),
  ),
} as const;

/** The active policy after a change. */
export interface ActivatedChange {
  readonly policy_hash: string;
  readonly generation: number;
  readonly warnings: readonly string[];
  /** The nodes on which it is active; absent without a cluster. */
  readonly cluster?: ClusterActivation;
}

/** The JSON Schema of `ActivatedChange`, for the answers of operations. */
export const activatedProperties = {
  policy_hash: Type.String({ description: 'The hash of the policy that is active now.' }),
  generation: Type.Integer(),
  warnings: Type.Array(Type.String()),
  ...activationOutput,
} as const;

/**
 * Changes the managed policy: compiles the policy that results, saves the change with its audit event in one
 * transaction, and activates it in all workers. A change that does not compile is refused and not saved. One that
 * cannot be activated is taken back.
 *
 * @throws Refusal `policy_invalid` with the problems, `weaker_policy` with the places, or `forbidden`
 */
export async function applyManagedChange(change: ManagedChange, context: Context): Promise<ActivatedChange> {
  const { runtime, caller } = context;
  const draft = await runtime.compileDraft({ managed: change.next(readActive(context)) });
  if (!draft.ok) throw buildPolicyRefusal(draft.problems);
  const { confirmation } = change;
  const weaker =
    confirmation === null ? 0 : await requireConfirmation(runtime.policy(), draft.policy, confirmation);
  const { event } = change;
  const metadata = { ...event.metadata, ...(weaker > 0 && { weaker_places: weaker }) };
  const store = await runtime.store();
  await store.transaction(async (trx) => {
    await change.save(trx);
    await countRevision(trx, 'policy');
    await recordOperatorChange({ ...event, metadata }, context);
  });
  const report = await runtime.reload(caller).catch(async (fault: unknown) => {
    await revertChange(change, context);
    throw fault;
  });
  if (report.reloaded)
    return {
      policy_hash: report.policy_hash,
      generation: report.generation,
      warnings: [...report.warnings],
      ...(await awaitActivation(context)),
    };
  await revertChange(change, context);
  throw buildPolicyRefusal(report.problems);
}

/** Returns the number of places at which the policy becomes less strict. @throws Refusal unless the caller confirms them */
async function requireConfirmation(
  before: Policy,
  after: Policy,
  { confirm_weaker = false, note = null }: Confirmation,
): Promise<number> {
  const { listWeakenings } = await import('../runtime/skills/weakenings.ts');
  const places = listWeakenings(before, after);
  if (places.length === 0 || (confirm_weaker && dropBlankName(note) !== null)) return places.length;
  throw new Refusal(
    'weaker_policy',
    'The policy would be less strict, so nothing was changed. The details list the places. To save it, set `confirm_weaker` and give the reason in `note`.',
    places.slice(0, WEAKER_PLACES_SHOWN_MAX).map((message) => ({ path: '', message })),
  );
}

/** Undoes a saved change, and activates the previous policy again in case the copy already has the change. */
async function revertChange(change: ManagedChange, context: Context): Promise<void> {
  const store = await context.runtime.store();
  await store.transaction(async (trx) => {
    await change.undo(trx);
    await countRevision(trx, 'policy');
    const { event } = change;
    const reason = 'The change could not be activated and was taken back.';
    await recordOperatorChange({ ...event, reason }, context, false);
  });
}

/** Returns the managed policy that is active. @throws Refusal if its copy is damaged */
export function readActive({ runtime }: Context): ManagedPolicy {
  const active = readManagedPolicy(runtime.limits.state_dir);
  if (active === null)
    throw new Refusal('unavailable', 'The managed policy in the state folder cannot be read.');
  return active;
}

/** Writes the audit event of a change by an operator. Rejects if the audit log cannot be written. */
export async function recordOperatorChange(
  event: OperatorChange,
  { runtime, caller }: Context,
  done = true,
): Promise<void> {
  const nowMs = runtime.now_ms();
  const policyHash = runtime.policy().hash;
  const own = {
    event_id: createEventId(nowMs),
    now_ms: nowMs,
    caller_id: caller.id,
    policy_hash: policyHash,
    done,
  };
  await runtime.note(buildServiceEvent({ ...event, ...own }));
}

/** Builds the refusal of a policy that does not compile, with its problems. */
export function buildPolicyRefusal(
  problems: readonly Pick<DocumentProblem, 'file' | 'path' | 'message'>[],
): Refusal {
  return new Refusal(
    'policy_invalid',
    'The policy is not valid, so nothing was changed. The details list the problems.',
    problems.map(({ file, path, message }) => ({ path: path === '' ? file : `${file}: ${path}`, message })),
  );
}
