import { judge } from '../decision/judge.ts';
import { createMemoryValues, type MemoryValues } from '../flow/memory-values.ts';
import { hashTextPortably } from '../policy/compile/portable-hash.ts';
import { celEvaluator } from '../policy/conditions/cel.ts';
import type { Crossing, Json, Label, Policy, Verdict } from '../types/index.ts';
import { buildTestCrossing, buildTestPolicy } from './policies.ts';

/** An agent's session under a policy, for tests: each step is judged, and its values are kept if it passes. */
export interface FlowSession {
  readonly values: MemoryValues;
  readonly prompt: (text: string, label?: Label) => Verdict;
  readonly call: (tool: string, input: Json, more?: Partial<Crossing>) => Verdict;
  readonly result: (tool: string, output: Json, more?: Partial<Crossing>) => Verdict;
  readonly message: (text: string) => Verdict;
}

/** Compiles contracts. Detectors are off, so that value origins alone decide. */
export function buildFlowPolicy(contracts: readonly object[]): Policy {
  return buildTestPolicy({
    documents: [{ contracts }],
    settings: {
      builtin_rules: false,
      default_action: 'allow',
      pii_protection: { enabled: false, action: 'flag' },
      secret_detection: { enabled: false },
    },
  });
}

/** Opens a session under these contracts. */
export function openFlowSession(contracts: readonly object[]): FlowSession {
  return openPolicySession(buildFlowPolicy(contracts));
}

/** Opens a session under a policy. */
export function openPolicySession(policy: Policy): FlowSession {
  const values = createMemoryValues((form, text) => hashTextPortably(`key ${form} ${text}`).slice(0, 16));
  let events = 0;
  const run = (parts: Partial<Crossing>): Verdict => {
    events += 1;
    const verdict = judge(
      buildTestCrossing({ values_seen: values.seen, ...parts }),
      policy,
      null,
      celEvaluator,
    );
    if (verdict.values_change !== null) values.save(verdict.values_change, `evt_${events}`);
    return verdict;
  };
  const contentOf = (value: Json) =>
    typeof value === 'string' ? ({ kind: 'text', text: value } as const) : ({ kind: 'json', value } as const);
  return {
    values,
    prompt: (text, label = 'user') =>
      run({ boundary: 'input', phase: null, content: { kind: 'text', text }, content_label: label }),
    call: (tool, input, more = {}) =>
      run({ boundary: 'action', phase: 'request', tool, content: contentOf(input), ...more }),
    result: (tool, output, more = {}) =>
      run({ boundary: 'action', phase: 'response', tool, content: contentOf(output), ...more }),
    message: (text) =>
      run({ boundary: 'action', phase: 'message', tool: null, content: { kind: 'text', text } }),
  };
}
