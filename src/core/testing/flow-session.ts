import { judge } from '../decision/judge.ts';
import { createMemoryValues, type MemoryValues } from '../flow/memory-values.ts';
import { hashTextPortably } from '../policy/compile/portable-hash.ts';
import type { Crossing, Json, Label, Policy, Verdict } from '../types/index.ts';
import { buildTestCrossing, buildTestPolicy } from './policies.ts';

/** One session of an agent under a policy, for tests: each step is judged, and its values are kept if it passes. */
export interface FlowSession {
  readonly values: MemoryValues;
  readonly prompt: (text: string, label?: Label) => Verdict;
  readonly call: (tool: string, input: Json) => Verdict;
  readonly result: (tool: string, output: Json, more?: Partial<Crossing>) => Verdict;
  readonly message: (text: string) => Verdict;
}

/** Opens a session under these contracts. Detectors are off, so that the origin of values alone decides. */
export function openFlowSession(contracts: readonly object[]): FlowSession {
  return openPolicySession(
    buildTestPolicy({
      documents: [{ contracts }],
      settings: {
        builtin_rules: false,
        default_action: 'allow',
        pii_protection: { enabled: false, action: 'flag' },
        secret_detection: { enabled: false },
      },
    }),
  );
}

export function openPolicySession(policy: Policy): FlowSession {
  const values = createMemoryValues((form, text) => hashTextPortably(`key ${form} ${text}`).slice(0, 16));
  let events = 0;
  const run = (parts: Partial<Crossing>): Verdict => {
    events += 1;
    const verdict = judge(buildTestCrossing({ ...parts, values_seen: values.seen }), policy);
    if (verdict.values_change !== null) values.save(verdict.values_change, `evt_${events}`);
    return verdict;
  };
  const contentOf = (value: Json) =>
    typeof value === 'string' ? ({ kind: 'text', text: value } as const) : ({ kind: 'json', value } as const);
  return {
    values,
    prompt: (text, label = 'user') =>
      run({ boundary: 'input', phase: null, content: { kind: 'text', text }, content_label: label }),
    call: (tool, input) => run({ boundary: 'action', phase: 'request', tool, content: contentOf(input) }),
    result: (tool, output, more = {}) =>
      run({ boundary: 'action', phase: 'response', tool, content: contentOf(output), ...more }),
    message: (text) =>
      run({ boundary: 'action', phase: 'message', tool: null, content: { kind: 'text', text } }),
  };
}
