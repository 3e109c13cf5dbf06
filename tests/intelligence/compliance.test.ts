/** The compliance advisor: its report is the deterministic one, and it reports on the proposal in the same way. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, withFolder } from '../../src/entry/cli/testing/run.ts';
import { loadFramework } from '../../src/features/compliance/frameworks.ts';
import { FRAMEWORK_IDS } from '../../src/operations/compliance-frameworks.ts';
import { MODEL, startModelServer } from '../support/model-server/model-server.ts';

const RULES = `Two controls need a rule.

--- FILE: policies/compliance-hipaa.yaml ---
version: v1alpha1
policies:
  - name: hipaa-block-health-data
    boundary: [input, output, action]
    data_tags: [personal.phi]
    action: block
    priority: 50
    reason: Health information stays here.
  - name: hipaa-approve-exports
    boundary: action
    condition: {tools: [export_records]}
    action: require_approval
    priority: 50
    reason: An export needs a person.
--- END ---`;

const ALLOWING = `Health data is fine.

--- FILE: policies/compliance-hipaa.yaml ---
version: v1alpha1
policies:
  - name: hipaa-allow
    boundary: [input, output, action]
    data_tags: [personal]
    action: allow
    priority: 0
    reason: Fine.
--- END ---`;

test('every framework of the mapping has a prompt with its controls', () =>
  withFolder(async (cwd) => {
    writeFileSync(join(cwd, 'service.yaml'), '');
    let controls = 0;
    for (const id of FRAMEWORK_IDS) {
      const args = ['intelligence', 'compliance', '--framework', id.toUpperCase(), '--show-prompt', '--json'];
      const { code, stdout, stderr } = await runInProcess(args, { cwd });
      assert.equal(code, 0, stderr);
      const [system, user] = JSON.parse(stdout).messages;
      const mapping = loadFramework(id);
      for (const { control_id, requirement } of mapping.controls) {
        assert.ok(
          system.content.includes(`${control_id}, `) && system.content.includes(requirement),
          control_id,
        );
        controls += 1;
      }
      const sent = JSON.parse(user.content.split('\n').slice(1, -1).join('\n'));
      assert.deepEqual(
        sent.controls.map(({ control }: { readonly control: string }) => control),
        mapping.controls.map(({ control_id }) => control_id),
      );
      for (const { status } of sent.controls)
        assert.ok(['enforced', 'partly', 'gap', 'outside this service'].includes(status), status);
    }
    assert.ok(controls > 150, `${controls} controls`);
  }));

test('the report follows the policy, and shows what a proposal changes', () =>
  withFolder(async (cwd) => {
    const model = await startModelServer(null, [RULES]);
    try {
      const intelligence = {
        enabled: true,
        backend: { provider: 'local', model: MODEL, base_url: model.url },
      };
      const configure = (settings: object) =>
        writeFileSync(join(cwd, 'service.yaml'), JSON.stringify({ intelligence, ...settings }));
      const ask = async () => {
        const args = ['intelligence', 'compliance', '--framework', 'hipaa', '--json'];
        const { code, stdout, stderr } = await runInProcess(args, { cwd });
        assert.equal(code, 0, stderr);
        return JSON.parse(stdout).metadata;
      };
      const statusOf = (metadata: { readonly controls: readonly Record<string, unknown>[] }, id: string) =>
        metadata.controls.find(({ control_id }) => control_id === id);
      configure({ pii_protection: { enabled: false } });
      const off = await ask();
      configure({});
      const on = await ask();
      const transmission = '164.312(e)(1)';
      assert.equal(statusOf(off, transmission)?.status, 'gap', JSON.stringify(statusOf(off, transmission)));
      assert.notEqual(statusOf(on, transmission)?.status, 'gap', JSON.stringify(statusOf(on, transmission)));
      assert.ok(JSON.stringify(statusOf(off, transmission)?.missing).includes('its detectors are off'));
      const { control_changes, weakens } = on.review.together;
      assert.equal(weakens, false);
      assert.ok(control_changes.length > 0, JSON.stringify(on.controls));
      assert.ok(control_changes.every(({ is_worse }: { readonly is_worse: boolean }) => !is_worse));
      const changed = statusOf({ controls: control_changes }, transmission);
      const lengths = [changed?.missing_before, changed?.missing_after].map((each) => (each as []).length);
      assert.deepEqual(lengths, [2, 1], JSON.stringify(changed));
      model.answerWith(ALLOWING);
      const { together } = (await ask()).review;
      assert.equal(together.weakens, true);
      assert.match(together.lets_through.join('\n'), /control 164\.312\(e\)\(1\): partly -> (?:partly|gap)/);
      const printed = await runInProcess(['intelligence', 'compliance', '--framework', 'hipaa'], { cwd });
      assert.match(
        printed.stdout,
        /^ {2}control 164\.312\(e\)\(1\): partly -> (?:partly|gap)\n {4}[+-] `personal\.phi`/m,
      );
    } finally {
      model.close();
    }
  }));

test('the texts of frameworks are in one place', () => {
  const texts = readFileSync('src/core/advisors/compliance.ts', 'utf8');
  for (const id of FRAMEWORK_IDS) assert.ok(!texts.includes(`'${id}'`), id);
});
