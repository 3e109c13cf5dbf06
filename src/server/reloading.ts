import type { Policy } from '../core/types/index.ts';
import { describeFault, type Log } from '../platform/log.ts';
import type { ApiKey } from '../runtime/access/settings.ts';
import { createEventId } from '../runtime/audit/event-id.ts';
import type { Journal } from '../runtime/audit/journal.ts';
import { buildServiceEvent } from '../runtime/audit/service-event.ts';
import type { AuditEvent } from '../runtime/audit/types.ts';
import type { PluginsInUse } from '../runtime/plugins/types.ts';
import {
  type ReloadFailure,
  type ReloadReport,
  WEAKER_PLACES_SHOWN_MAX,
} from '../runtime/policies/reload-report.ts';
import type { SecretReading } from '../runtime/secrets/references.ts';
import { recordSecretReads } from '../runtime/secrets/secret-read-events.ts';
import { changeGeneration, type Generation } from './generations.ts';
import type { Worker } from './workers.ts';

/** A reloaded policy, or the problems of its documents. */
export type PolicyLoad = (
  | {
      readonly ok: true;
      readonly policy: Policy;
      readonly plugins: PluginsInUse;
      readonly api_keys: readonly ApiKey[];
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problems: Extract<ReloadReport, { reloaded: false }>['problems'] }
) & {
  /** The secrets that the configuration references. */
  readonly secret_readings: readonly SecretReading[];
};

export interface ReloadingParts {
  readonly first: Policy;
  /** The plug-ins in use with the first policy. */
  readonly plugins: PluginsInUse;
  /** Reads the configuration and the documents again. */
  readonly load: () => Promise<PolicyLoad>;
  /** Saves a policy under its hash, where the workers find it. */
  readonly save: (policy: Policy) => Promise<void>;
  readonly workers: () => readonly Worker[];
  /** Activates the policy in the parent itself. */
  readonly use: (policy: Policy) => void;
  /** Activates API keys in all workers. Resolves when no worker accepts the previous keys. */
  readonly useKeys: (keys: readonly ApiKey[]) => Promise<void>;
  readonly journal: Pick<Journal, 'append'> | null;
  readonly now_ms: () => number;
  /** Called after each reload that fails. */
  readonly on_failure?: () => void;
  readonly log: Log;
}

/** Holds the policy of the whole service. Only `reload` changes it. */
export interface PolicyReloader {
  readonly getActive: () => Generation;
  /** Returns why the last reload failed, or `null` if it succeeded. */
  readonly lastFailure: () => ReloadFailure | null;
  /** Returns the plug-ins of the active policy. */
  readonly plugins: () => PluginsInUse;
  /** Reads all documents again, and activates them in all processes or in none. Calls must be sequential. */
  readonly reload: (callerId: string) => Promise<ReloadReport>;
}

/** Opens the reloader with the policy of the start as generation 1. */
export function openPolicyReloader(parts: ReloadingParts): PolicyReloader {
  let lastFailure: ReloadFailure | null = null;
  let isValid = true;
  const load = async (): Promise<PolicyLoad> => {
    const loaded = await parts.load();
    isValid = loaded.ok;
    return loaded;
  };
  const exchange = openExchange({ ...parts, load });
  return {
    ...exchange,
    lastFailure: () => lastFailure,
    reload: async (callerId) => {
      isValid = true;
      let isDone = false;
      try {
        const report = await exchange.reload(callerId);
        isDone = report.reloaded;
        return report;
      } finally {
        lastFailure = isDone ? null : isValid ? 'reload_failed' : 'policy_invalid';
        if (!isDone) parts.on_failure?.();
      }
    },
  };
}

function openExchange(parts: ReloadingParts): Omit<PolicyReloader, 'lastFailure'> {
  let active: Generation = { generation: 1, hash: parts.first.hash };
  let activePolicy = parts.first;
  let inUse = parts.plugins;

  async function apply(policy: Policy, callerId: string): Promise<string | null> {
    const next = { generation: active.generation + 1, hash: policy.hash };
    await parts.save(policy);
    const exchange = changeGeneration({
      next,
      workers: parts.workers(),
      log: parts.log,
      settle: async () => {
        await recordExchange(parts, callerId, next.hash, (await comparison).length);
        active = next;
        activePolicy = policy;
        parts.use(policy);
      },
    });
    // The comparison takes its time while the workers load the policy, so that the reload takes no longer.
    const comparison = comparePolicies(activePolicy, policy, parts.log);
    const change = await exchange;
    if (!change.changed) return change.reason;
    warnIfWeaker(await comparison, parts.log);
    return null;
  }

  const refuse = (callerId: string, problems: FailedReload['problems']): Promise<ReloadReport> =>
    refuseReload(parts, callerId, active.hash, problems);

  return {
    getActive: () => active,
    plugins: () => inUse,
    reload: async (callerId) => {
      const loaded = await parts.load();
      await recordSecretReads(
        loaded.secret_readings,
        { caller_id: callerId, policy_hash: active.hash },
        parts,
      );
      if (!loaded.ok) return refuse(callerId, loaded.problems);
      const { policy, warnings } = loaded;
      const changed = policy.hash !== active.hash;
      try {
        const reason = changed
          ? await apply(policy, callerId)
          : await recordUnchanged(parts, callerId, policy);
        if (reason !== null) return refuse(callerId, [{ file: 'service', path: '', message: reason }]);
      } catch (fault) {
        parts.log.error('the policy could not be exchanged', describeFault(fault));
        const message = 'The policy could not be saved or its reload not be recorded; the log says why.';
        return refuse(callerId, [{ file: 'service', path: '', message }]);
      }
      inUse = loaded.plugins;
      await parts.useKeys(loaded.api_keys);
      parts.log.info('the policy was reloaded', { ...active, changed, warnings });
      const { hash: policyHash, generation } = active;
      return { reloaded: true, policy_hash: policyHash, generation, changed, warnings };
    },
  };
}

type FailedReload = Extract<ReloadReport, { reloaded: false }>;

async function refuseReload(
  parts: ReloadingParts,
  callerId: string,
  policyHash: string,
  problems: FailedReload['problems'],
): Promise<ReloadReport> {
  const sentence = `The policy was not reloaded: ${problems.length} problem${problems.length === 1 ? '' : 's'}.`;
  await recordReload(parts, callerId, policyHash, false, sentence).catch((fault) =>
    parts.log.error('a refused reload could not be recorded', describeFault(fault)),
  );
  parts.log.warn('the reload failed; the previous policy is still active', {
    problems: problems.map(({ file, path, message }) => `${file} ${path}: ${message}`),
  });
  return { reloaded: false, policy_hash: policyHash, problems };
}

/** Lists the places that become less strict; none if the comparison fails, which must not stop a reload. */
async function comparePolicies(before: Policy, after: Policy, log: Log): Promise<readonly string[]> {
  try {
    const { listWeakenings } = await import('../runtime/skills/weakenings.ts');
    return listWeakenings(before, after);
  } catch (fault) {
    log.error('the reloaded policy could not be compared with the one before', describeFault(fault));
    return [];
  }
}

function warnIfWeaker(places: readonly string[], log: Log): void {
  if (places.length === 0) return;
  log.warn('the reloaded policy is less strict than before', {
    weaker_places: places.length,
    places: places.slice(0, WEAKER_PLACES_SHOWN_MAX),
  });
}

async function recordExchange(
  parts: ReloadingParts,
  callerId: string,
  policyHash: string,
  weaker: number,
): Promise<void> {
  const done = 'The policy was reloaded.';
  if (weaker === 0) return recordReload(parts, callerId, policyHash, true, done);
  const reason = `${done} It is less strict than before at ${weaker} place${weaker === 1 ? '' : 's'}.`;
  await recordReload(parts, callerId, policyHash, true, reason, { weaker_places: weaker });
}

async function recordUnchanged(parts: ReloadingParts, callerId: string, { hash }: Policy): Promise<null> {
  await recordReload(parts, callerId, hash, true, 'The policy was reloaded, and is the same as before.');
  return null;
}

async function recordReload(
  { journal, now_ms }: ReloadingParts,
  callerId: string,
  policyHash: string,
  done: boolean,
  reason: string,
  metadata: AuditEvent['metadata'] = {},
): Promise<void> {
  const atMs = now_ms();
  const event: AuditEvent = buildServiceEvent({
    event_id: createEventId(atMs),
    now_ms: atMs,
    phase: 'policy_reload',
    done,
    reason,
    caller_id: callerId,
    policy_hash: policyHash,
    metadata,
  });
  await journal?.append(event);
}
