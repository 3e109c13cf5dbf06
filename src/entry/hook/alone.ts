import type { HookAnswer } from '../../coding-agents/record/dialect.ts';
import type { Policy } from '../../core/types/index.ts';
import { lazy } from '../../platform/lazy.ts';
import type { DialectSpec } from '../../runtime/adapters/types.ts';
import { newEventId } from '../../runtime/audit/event-id.ts';
import { writeSpool } from '../../runtime/audit/spool.ts';
import { openAgentList } from '../../runtime/enforcement/agent-blocks/agent-list.ts';
import { enforce } from '../../runtime/enforcement/enforce.ts';
import { openSessionClock } from '../../runtime/enforcement/sessions/clock.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import { openFingerprints } from '../../runtime/policies/fingerprints.ts';
import { judgeChecks } from './judge.ts';
import type { Alone, Place } from './place.ts';
import type { HookQuestion, HookRuntime } from './question.ts';
import { readStand, type Stand } from './stand.ts';

export { startResident } from './start-resident.ts';
export { recordRefusal } from './unjudged.ts';

import type { WholeRuntime } from './whole.ts';

/**
 * Decides in this process. Uses the saved policy if it still matches the configuration; otherwise reads the
 * configuration and compiles its policy, which is slower. In both cases the event is durable in the spool before this
 * resolves.
 *
 * @throws StartFailure or StoreFailure, whose message describes the problem; nothing was decided then
 */
export async function decideAlone(question: HookQuestion, alone: Alone): Promise<readonly HookAnswer[]> {
  const saved = readStand(alone.place, alone.version);
  if (saved === null) {
    const whole = await openWhole(alone);
    try {
      return await judgeChecks(question, whole.runtime, alone.caller);
    } finally {
      await whole.close();
    }
  }
  const { runtime, close } = lightRuntime(saved.stand, saved.policy, () => openWhole(alone));
  try {
    return await judgeChecks(question, runtime, alone.caller);
  } finally {
    await close();
  }
}

/**
 * Loads the plug-ins in this process and returns the description of a coding agent; `null` if no plug-in describes it.
 */
export async function dialectAlone(name: string, place: Place): Promise<DialectSpec | null> {
  return (await import('./whole.ts')).dialectIn(place, name);
}

async function openWhole({ place, version }: Alone): Promise<WholeRuntime> {
  return (await import('./whole.ts')).openWholeRuntime(place, version);
}

/** Opens a runtime over a saved policy. The store is opened only if the policy needs sessions or approvals. */
function lightRuntime(
  stand: Stand,
  policy: Policy,
  open: () => Promise<WholeRuntime>,
): { readonly runtime: HookRuntime; readonly close: () => Promise<void> } {
  const opened = lazy(open);
  const whole = async () => (await opened.open()).runtime;
  const record: EnforcementPorts['record'] = stand.audited
    ? (event) => writeSpool({ dir: `${stand.state_dir}/journal`, events: [event], now_ms: Date.now })
    : async () => {};
  const ports: EnforcementPorts = {
    policy,
    fingerprintOf: openFingerprints(keyPlace(stand), policy),
    now_ms: Date.now,
    new_event_id: newEventId,
    record,
    logged_texts: stand.logged,
    findAgentBlock: openAgentList(stand.state_dir),
    resolveApproval: async (settling) => (await (await whole()).approvals()).resolve(settling),
    sessions: {
      store: async () => (await whole()).store(),
      limits: stand.session_limits,
      timeOf: openSessionClock(),
    },
  };
  return {
    runtime: {
      now_ms: Date.now,
      policy: () => policy,
      note: record,
      enforce: (crossing, caller, endpoint, approval_request_id = null, extras = {}) =>
        enforce(crossing, caller, endpoint, ports, approval_request_id, extras),
    },
    close: () => opened.ifOpened(({ close }) => close()),
  };
}

/**
 * Returns the settings of the fingerprint key in the state folder. A configuration with its own key never has a saved
 * `Stand`.
 */
function keyPlace({ state_dir, config_file }: Stand): Parameters<typeof openFingerprints>[0] {
  const label = config_file ?? 'service.yaml';
  return { state_dir, detection: {}, origin: { file: config_file, label, base_dir: state_dir } };
}
