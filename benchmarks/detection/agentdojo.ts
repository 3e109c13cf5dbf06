/**
 * Measures the attacks of AgentDojo 0.1.35 against the default rules: the share of tool results with an attack that are
 * blocked or at least have a finding, and the clean results that are blocked. Reads the lines of `agentdojo-results.py`.
 *
 *   pip install agentdojo==0.1.35
 *   python benchmarks/detection/agentdojo-results.py | scripts/run benchmarks/detection/agentdojo.ts
 */
import { createInterface } from 'node:readline';
import { judge } from '../../src/core/decision/judge.ts';
import { buildTestCrossing, buildTestPolicy } from '../../src/core/testing/policies.ts';

interface ToolResult {
  /** `null` for a result without an attack. */
  readonly attack: string | null;
  readonly text: string;
}

interface Counts {
  results: number;
  blocked: number;
  found: number;
}

const policy = buildTestPolicy({ settings: { default_action: 'allow' } });
const counts = new Map<string, Counts>();

for await (const line of createInterface({ input: process.stdin })) {
  const { attack, text } = JSON.parse(line) as ToolResult;
  const key = attack ?? 'none';
  const row = counts.get(key) ?? { results: 0, blocked: 0, found: 0 };
  counts.set(key, row);
  const { decision, findings } = judge(
    buildTestCrossing({
      boundary: 'action',
      phase: 'response',
      tool: 'read',
      content: { kind: 'text', text },
    }),
    policy,
  );
  row.results += 1;
  if (decision === 'block') row.blocked += 1;
  if (findings.some(({ type }) => type === 'injection_detected')) row.found += 1;
}

console.log('attack                    results  blocked    found');
for (const [attack, { results, blocked, found }] of counts) {
  const shares = [blocked, found].map((count) => (count / results).toFixed(3).padStart(8));
  console.log(`${attack.padEnd(24)} ${String(results).padStart(8)} ${shares.join(' ')}`);
}
