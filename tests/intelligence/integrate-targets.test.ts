/** The targets of `integrate` are those of `customshouse setup` and of both SDKs, and each has a prompt with its adapter. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { codingAgents } from '../../src/coding-agents/coding-agents.ts';
import { integrationAdvisor } from '../../src/core/advisors/integration.ts';
import { expectRows } from '../../src/core/testing/expect-rows.ts';
import { setupNames } from '../../src/entry/cli/setup/setup-names.ts';
import { runInProcess, withFolder } from '../../src/entry/cli/testing/run.ts';
import { checkCode } from '../../src/features/advisors/check-code.ts';
import {
  findIntegrationTarget,
  integrationTargets,
  readAdapterReference,
} from '../../src/features/advisors/integration-targets.ts';
import { readFrameworkGuard } from '../../src/operations/agent-frameworks.ts';
import { root } from '../support/checkout.ts';

const names = integrationTargets.map(({ name }) => name);
const read = (source: string) => readFileSync(join(root, 'integrations', source), 'utf8');
const outline = {
  ...{ languages: [], packages: [], imports: [], frameworks: [], agents: [], mcp_servers: [] },
  ...{ tools: [], file_count: 1, is_partial: false },
};

test('the targets are the frameworks of `customshouse setup`, and `generic` in both languages', () => {
  const agents: readonly string[] = codingAgents.map(({ name }) => name);
  const frameworks = setupNames.filter((name) => !agents.includes(name));
  assert.deepEqual(names.filter((name) => name !== 'generic-ts').toSorted(), frameworks.toSorted());
  assert.equal(new Set(names).size, names.length);
});

test('every file of `integrations` is a target, and the targets use every adapter of both SDKs', () => {
  assert.deepEqual(
    integrationTargets.map(({ source }) => source).toSorted(),
    readdirSync(join(root, 'integrations')).toSorted(),
  );
  const texts = integrationTargets.map(({ source }) => read(source)).join('\n');
  const used = (pattern: RegExp) =>
    [...new Set([...texts.matchAll(pattern)].map(([, name]) => name))].toSorted();
  const python = readdirSync(join(root, 'python/customshouse/adapters')).filter((name) =>
    /^[a-z]\w*\.py$/.test(name),
  );
  assert.deepEqual(
    used(/^from customshouse\.adapters\.(\w+) import/gm).map((name) => `${name}.py`),
    python.toSorted(),
  );
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, unknown>;
  };
  // Parts that adapters share are closed to programs.
  const shared = Object.keys(exports)
    .filter((path) => exports[path] === null)
    .map((path) => path.replace('./sdk/', '').concat('.ts'));
  assert.equal(shared.length, 6);
  const script = readdirSync(join(root, 'src/sdk/adapters')).filter(
    (name) => !(shared.includes(name) || name.endsWith('.test.ts')),
  );
  assert.deepEqual(
    used(/from 'customshouse\/sdk\/([\w-]+)'/g).map((name) => `${name}.ts`),
    script.toSorted(),
  );
  assert.deepEqual([python.length, script.length], [13, 7]);
});

test('each prompt has the adapter and the functions behind it, and each proposal brings the adapter along', async () => {
  for (const framework of expectRows(23, integrationTargets)) {
    const { name, label, language, file } = framework;
    const adapter = await readFrameworkGuard(framework);
    const reference = await readAdapterReference(framework);
    const request = { target: name, label, language, adapter, adapter_file: file, reference, outline };
    const { system } = integrationAdvisor.brief(request);
    assert.ok(system.includes(adapter) && reference.length > 300 && system.includes(reference), name);
    const imported = [...adapter.matchAll(/import \{? ?([A-Za-z_]+)/g)].map(([, each = '']) => each);
    assert.ok(imported.length > 0, name);
    const own = language === 'python' ? 'service_integration.py' : 'service-integration.ts';
    const listed = /^__all__ = \["(\w+)"/m.exec(adapter)?.[1];
    const given = listed ?? /^(?:export const )?([a-zA-Z]\w*) = /m.exec(adapter)?.[1];
    const module = file.replace(/\.(?:py|ts)$/, '');
    const importing = (name: string | undefined) =>
      language === 'python' ? `from ${module} import ${name}` : `import { ${name} } from './${file}';`;
    const code = importing(given);
    for (const wrong of [importing('no_such_name'), '']) {
      const answer = `Text.\n--- FILE: ${own} ---\n${wrong}\nx = 1\n--- END ---`;
      const { artifacts, problems } = integrationAdvisor.read(answer, request);
      assert.deepEqual([artifacts, problems.length], [[], 1], `${name}: ${problems.join()}`);
    }
    const { artifacts, problems } = integrationAdvisor.read(
      `Text.\n--- FILE: ${own} ---\n${code}\n--- END ---`,
      request,
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(
      artifacts.map(({ path }) => path),
      [file, own],
    );
    const { problems: found, syntax } = await checkCode(artifacts);
    assert.deepEqual([found, syntax], [[], { [file]: 'parsed', [own]: 'parsed' }], name);
    const changed = integrationAdvisor.read(`Text.\n--- FILE: ${file} ---\n${code}\n--- END ---`, request);
    assert.deepEqual(changed.artifacts, [], name);
    assert.match(changed.problems.join(), /is the shipped adapter/, name);
  }
  assert.equal(findIntegrationTarget(' LangChain_TS ')?.name, 'langchain-ts');
});

test('a coding agent is no target, and the refusal names the command for it', () =>
  withFolder(async (cwd) => {
    const { code, stderr } = await runInProcess(['intelligence', 'integrate', '--target', 'claude-code'], {
      cwd,
    });
    assert.deepEqual([code, /customshouse setup claude-code/.test(stderr)], [2, true]);
  }));
