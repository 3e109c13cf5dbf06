import type { Context } from '../../../operations/operation.ts';
import type { ControlMapping, FrameworkMapping, Place } from '../mapping-types.ts';
import { getMechanism, type Mechanism } from '../mechanisms.ts';
import { buildMechanismProbe, buildTagProbe, type Probe, type ProbeOutcome } from './probes.ts';

/** A probe that ran, with its marked event. */
export interface ProbeReport extends ProbeOutcome {
  readonly probe: string;
  /** The event of the probe; `null` if nothing crossed. */
  readonly event_id: string | null;
}

/** The result for one control. */
export interface VerifiedControl {
  readonly framework: string;
  readonly control_id: string;
  readonly title: string;
  /** `not_tested`: none of its parts can be probed. `not_configured`: the policy has nothing that could act. */
  readonly result: 'effective' | 'ineffective' | 'not_configured' | 'not_tested';
  /** Sentences: the parts that did not act, are not configured or were not tested. */
  readonly details: readonly string[];
}

export interface SelfTestReport {
  /** `true` if every tested control is effective. */
  readonly effective: boolean;
  readonly policy_hash: string;
  readonly probes: readonly ProbeReport[];
  readonly controls: readonly VerifiedControl[];
  readonly counts: Readonly<Record<VerifiedControl['result'], number>>;
}

/**
 * Sends synthetic data through the enforcement of this service and reads whether the controls of some frameworks act.
 * Every event is marked as a self-test. No approval is requested and no session is changed.
 */
export async function runSelfTest(
  frameworks: readonly FrameworkMapping[],
  tenantId: string,
  context: Context,
): Promise<SelfTestReport> {
  const run = openProbeRunner(tenantId, context);
  const controls: VerifiedControl[] = [];
  for (const { framework, controls: mapped } of frameworks)
    for (const control of mapped.filter(({ coverage }) => coverage !== 'none'))
      controls.push({ framework, ...(await verifyControl(control, run)) });
  const count = (result: VerifiedControl['result']) =>
    controls.filter((each) => each.result === result).length;
  return {
    effective: count('ineffective') === 0,
    policy_hash: context.runtime.policy().hash,
    probes: await run.reports(),
    controls,
    counts: {
      effective: count('effective'),
      ineffective: count('ineffective'),
      not_configured: count('not_configured'),
      not_tested: count('not_tested'),
    },
  };
}

interface ProbeRunner {
  readonly runTag: (tag: string, place: Place) => Promise<ProbeReport>;
  /** Resolves with `null` if the mechanism cannot be probed. */
  readonly runMechanism: (mechanism: Mechanism) => Promise<ProbeReport | null>;
  readonly reports: () => Promise<readonly ProbeReport[]>;
}

/** Opens a runner that runs each probe once, however many controls need it. */
function openProbeRunner(tenantId: string, context: Context): ProbeRunner {
  const { runtime } = context;
  const policy = runtime.policy();
  const known = new Map<string, Promise<ProbeReport>>();
  const runOnce = (key: string, probe: Probe): Promise<ProbeReport> => {
    const running = known.get(key) ?? runProbe(probe, context);
    known.set(key, running);
    return running;
  };
  return {
    runTag: (tag, place) => runOnce(`${tag} ${place}`, buildTagProbe(tag, place, tenantId, runtime.now_ms())),
    runMechanism: async (mechanism) => {
      if (mechanism === 'audit_log') return runOnce(mechanism, buildAuditProbe(tenantId, runtime.now_ms()));
      const probe = buildMechanismProbe(mechanism, policy, tenantId, runtime.now_ms());
      return probe === null ? null : runOnce(mechanism, probe);
    },
    reports: () => Promise.all(known.values()),
  };
}

const AUDIT_PROBE = 'event in the audit log';

function buildAuditProbe(tenantId: string, nowMs: number): Probe {
  return { ...buildTagProbe('secret', 'input', tenantId, nowMs), name: AUDIT_PROBE };
}

async function runProbe({ name, crossing, read }: Probe, context: Context): Promise<ProbeReport> {
  if (crossing === null)
    return {
      probe: name,
      event_id: null,
      result: 'not_configured',
      detail: 'The policy has nothing that could act.',
    };
  const { runtime, caller } = context;
  const ruling = await runtime.enforce(crossing, caller, 'compliance_verify', null, { self_test: true });
  if (name === AUDIT_PROBE) return findAuditEvent(ruling.event_id, context);
  const { fault } = ruling.verdict;
  if (fault)
    return { probe: name, event_id: ruling.event_id, result: 'failed', detail: 'A fault blocked the probe.' };
  return { probe: name, event_id: ruling.event_id, ...read(ruling.verdict) };
}

async function findAuditEvent(eventId: string, { runtime }: Context): Promise<ProbeReport> {
  const found = await runtime.queryAudit({ event_id: eventId }).catch(() => null);
  if (found === null)
    return {
      probe: AUDIT_PROBE,
      event_id: null,
      result: 'not_configured',
      detail: 'Nothing is recorded here: no service runs, or `audit.enabled` is `false`.',
    };
  return found.count === 1
    ? { probe: AUDIT_PROBE, event_id: eventId, result: 'enforced', detail: 'The event is in the audit log.' }
    : {
        probe: AUDIT_PROBE,
        event_id: eventId,
        result: 'failed',
        detail: 'The event is not in the audit log.',
      };
}

async function verifyControl(
  control: ControlMapping,
  run: ProbeRunner,
): Promise<Omit<VerifiedControl, 'framework'>> {
  const { control_id, title } = control;
  const details: string[] = [];
  let acting = 0;
  let failing = 0;
  let absent = 0;
  for (const { tag, places, expect } of control.tags)
    for (const place of places) {
      const { probe, result, detail } = await run.runTag(tag, place);
      const isMet = result === 'enforced' || (result === 'recorded' && expect === 'record');
      if (isMet) acting += 1;
      else {
        failing += 1;
        details.push(`${probe}: ${detail}`);
      }
    }
  for (const mechanism of control.mechanisms) {
    const report = await run.runMechanism(mechanism);
    if (report === null) details.push(`${getMechanism(mechanism).title}: not tested.`);
    else if (report.result === 'enforced') acting += 1;
    else if (report.result === 'not_configured') {
      absent += 1;
      details.push(`${getMechanism(mechanism).title}: not configured. ${report.detail}`);
    } else {
      failing += 1;
      details.push(`${getMechanism(mechanism).title}: ${report.detail}`);
    }
  }
  const result =
    failing > 0 ? 'ineffective' : acting > 0 ? 'effective' : absent > 0 ? 'not_configured' : 'not_tested';
  return { control_id, title, result, details };
}
