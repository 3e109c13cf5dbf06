/**
 * Plays the scenarios of AgentGovBench against a running service, and prints for each whether its assertions hold and
 * which answer, event field or status shows it.
 * `scripts/run benchmarks/governance/run.ts --scenarios FOLDER [--seam http|hook|mcp|sdk] [--only TEXT] [--json]`
 *
 * FOLDER has `scenarios/` and `fixtures/`, which are MIT-licensed data of AgentGovBench. `--only` takes the scenarios
 * whose id contains the text. Each scenario has a fresh service.
 */
import { parseArgs } from 'node:util';
import { decideAssertion } from './assertions.ts';
import { playScenario, SEAMS, type Seam } from './play.ts';
import { readScenarios } from './scenarios.ts';

const DECIDES_ALONE = 'the hook decides by the saved policy while the service is down';
const NOT_APPLICABLE: Readonly<Partial<Record<Seam, Readonly<Record<string, string>>>>> = {
  hook: {
    'fail_mode_discipline.01_fail_closed_honored': DECIDES_ALONE,
    'fail_mode_discipline.02_fail_open_honored': DECIDES_ALONE,
    'fail_mode_discipline.03_5xx_not_silent_allow': DECIDES_ALONE,
    'fail_mode_discipline.05_no_audit_without_governance': DECIDES_ALONE,
  },
  mcp: {
    'fail_mode_discipline.02_fail_open_honored':
      'the proxy is the only way to its servers, and always fails closed',
  },
};

const { values } = parseArgs({
  options: {
    scenarios: { type: 'string' },
    seam: { type: 'string', default: 'http' },
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
if (values.scenarios === undefined) throw new Error('`--scenarios` names the folder with the scenarios.');

const seam = SEAMS.find((name) => name === values.seam);
if (seam === undefined) throw new Error(`\`--seam\` is one of ${SEAMS.join(', ')}.`);

const counts = { pass: 0, fail: 0, none: 0 };
for (const scenario of readScenarios(values.scenarios).filter(({ id }) => id.includes(values.only))) {
  const reason = NOT_APPLICABLE[seam]?.[scenario.id];
  if (reason !== undefined) {
    counts.none += 1;
    const result = 'not applicable';
    console.log(
      values.json ? JSON.stringify({ id: scenario.id, result, reason }) : `none  ${scenario.id}: ${reason}`,
    );
    continue;
  }
  const played = await playScenario(scenario, seam);
  const findings = scenario.expected.map((assertion) => decideAssertion(assertion, played));
  const result = findings.every(({ holds }) => holds) ? 'pass' : 'fail';
  counts[result] += 1;
  if (values.json) {
    console.log(JSON.stringify({ id: scenario.id, result, findings, left_out: played.left_out }));
    continue;
  }
  console.log(`${result}  ${scenario.id}`);
  for (const { kind, holds, evidence } of findings)
    console.log(`        ${holds ? '+' : '-'} ${kind}: ${evidence}`);
  for (const part of new Set(played.left_out)) console.log(`        without ${part}`);
}
if (!values.json) console.log(`${counts.pass} pass, ${counts.fail} fail, ${counts.none} not applicable`);
