import type { HookAnswer } from '../../coding-agents/record/dialect.ts';
import type { Policy } from '../../core/types/index.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import type { DialectSpec } from '../../runtime/adapters/types.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { writeSpool } from '../../runtime/audit/spool.ts';
import { openAgentList } from '../../runtime/enforcement/agent-list.ts';
import { enforce, recordSessionOpening } from '../../runtime/enforcement/enforce.ts';
import { openSessionClock } from '../../runtime/enforcement/sessions/clock.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import { openValueIndex } from '../../runtime/enforcement/values/index.ts';
import { openFingerprints, readFingerprintSecret } from '../../runtime/policies/fingerprints.ts';
import type { HookLocation, LocalContext } from './hook-location.ts';
import type { HookRequest, HookRuntime } from './hook-request.ts';
import { type HookSnapshot, readHookSnapshot } from './hook-snapshot.ts';
import { judgeChecks } from './judge-checks.ts';

export { recordRefusal } from './record-refusal.ts';
export { spawnDaemon } from './spawn-daemon.ts';

import type { FullRuntime } from './full-runtime.ts';

/**
 * Decides in this process. Uses the saved policy if it still matches the configuration; otherwise reads the
 * configuration and compiles its policy, which is slower. In both cases the event is durable in the spool before this
 * resolves.
 *
 * @throws StartFailure or StoreFailure, whose message describes the problem; nothing was decided then
 */
export async function decideLocally(
  request: HookRequest,
  context: LocalContext,
): Promise<readonly HookAnswer[]> {
  // The verification of a token needs the configuration.
  const saved = context.user_token === null ? readHookSnapshot(context.location, context.version) : null;
  if (saved === null) {
    const fullRuntime = await openRuntime(context);
    try {
      const caller = await fullRuntime.findCaller(context.user, context.user_token);
      return await judgeChecks(request, fullRuntime.runtime, caller);
    } finally {
      await fullRuntime.close();
    }
  }
  const { runtime, close } = buildSnapshotRuntime(saved.snapshot, saved.policy, () => openRuntime(context));
  try {
    return await judgeChecks(request, runtime, context.caller);
  } finally {
    await close();
  }
}

/**
 * Loads the plug-ins in this process and returns the description of a coding agent; `null` if no plug-in describes it.
 */
export async function loadLocalDialect(name: string, location: HookLocation): Promise<DialectSpec | null> {
  return (await import('./full-runtime.ts')).loadDeclaredDialect(location, name);
}

async function openRuntime({ location, version }: LocalContext): Promise<FullRuntime> {
  return (await import('./full-runtime.ts')).openFullRuntime(location, version);
}

/** Opens a runtime over a saved policy. The store is opened only if the policy needs sessions or approvals. */
function buildSnapshotRuntime(
  snapshot: HookSnapshot,
  policy: Policy,
  open: () => Promise<FullRuntime>,
): { readonly runtime: HookRuntime; readonly close: () => Promise<void> } {
  const opened = createLazyValue(open);
  const fullRuntime = async () => (await opened.open()).runtime;
  const record: EnforcementPorts['record'] = snapshot.audit_enabled
    ? (event) => writeSpool({ dir: `${snapshot.state_dir}/journal`, events: [event], now_ms: Date.now })
    : async () => {};
  const ports: EnforcementPorts = {
    policy,
    fingerprintOf: openFingerprints(buildFingerprintSettings(snapshot), policy),
    now_ms: Date.now,
    new_event_id: createEventId,
    record,
    logged_texts: snapshot.logged_texts,
    findAgentBlock: openAgentList(snapshot.state_dir),
    checkTask: async (use) => (await (await fullRuntime()).tasks()).check(use),
    resolveApproval: async (settling) => (await (await fullRuntime()).approvals()).resolve(settling),
    sessions: {
      store: async () => (await fullRuntime()).store(),
      limits: snapshot.session_limits,
      timeOf: openSessionClock(),
      values: openValueIndex(() => readFingerprintSecret(buildFingerprintSettings(snapshot))),
    },
  };
  return {
    runtime: {
      now_ms: Date.now,
      policy: () => policy,
      note: record,
      openSession: (actor, caller) => recordSessionOpening(actor, caller, ports),
      enforce: (crossing, caller, endpoint, approvalRequestId = null, extras = {}) =>
        enforce(crossing, caller, endpoint, ports, approvalRequestId, extras),
    },
    close: () => opened.ifOpened(({ close }) => close()),
  };
}

/**
 * Returns the settings of the fingerprint key in the state folder. A configuration with its own key never has a saved
 * snapshot.
 */
function buildFingerprintSettings({
  state_dir,
  config_file,
}: HookSnapshot): Parameters<typeof openFingerprints>[0] {
  const label = config_file ?? 'service.yaml';
  return { state_dir, detection: {}, origin: { file: config_file, label, base_dir: state_dir } };
}
