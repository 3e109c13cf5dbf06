/** The cases in `cases/`, with the guards of the Python package: all in process, and a sample of their files over HTTP. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  type CaseGroup,
  differences,
  judgeCase,
  judgeOf,
  loadCases,
  policyOf,
  runAll,
} from '../../cases/run.ts';
import { buildPythonCore } from '../../scripts/build/python.ts';
import { locateComponent } from '../../scripts/components/components.ts';
import { root, userEnvironment } from '../support/checkout.ts';
import { isNightly } from '../support/nightly.ts';
import { startTestService } from '../support/service.ts';
import { PYTHON_CACHE } from './run-python.ts';

/** The guard in process asks a service for approvals. */
const needsService = ({ cases }: CaseGroup): boolean =>
  cases.some(({ expect }) => expect.action === 'require_approval');
const skip = locateComponent('sdk-python') === null && 'sdk-python is not installed';
const folder = mkdtempSync(join(tmpdir(), 'sdk-cases-'));
before(async () => {
  if (skip === false) await buildPythonCore();
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes nests of lists, which no JSON reader takes, as their depth. */
function replaceNests(value: unknown): unknown {
  let levels = 0;
  for (let inner: unknown = value; Array.isArray(inner) && inner.length === 1; inner = inner[0]) levels += 1;
  if (levels > 100) return { nest_of_lists: levels };
  if (Array.isArray(value)) return value.map(replaceNests);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaceNests(each)]));
}

/** Returns the verdicts of the guards as JSON texts, for each case; without an address, of the guard in process alone. */
function askPython(
  group: CaseGroup,
  url: string | null,
): readonly (readonly [local: string, client?: string])[] {
  const documents = group.documents.map((value, at) => ({ file: `policies/${at}.yaml`, value }));
  const input = JSON.stringify({
    url,
    policy: { config: group.config, documents },
    journal: join(folder, `${group.file}.jsonl`),
    requests: group.cases.map(({ request }) => replaceNests(request)),
  });
  const env = userEnvironment({ PYTHONPATH: join(root, 'python'), ...PYTHON_CACHE });
  const runner = join(import.meta.dirname, 'cases_runner.py');
  const ran = spawnSync(locateComponent('sdk-python')!, [runner], {
    input,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  assert.equal(ran.status, 0, `${group.file}\n${ran.stderr}`);
  return JSON.parse(ran.stdout);
}

test('every case holds on both guards, which answer alike to the byte', {
  skip,
  timeout: 600_000,
}, async (t) => {
  const wrong: string[] = [];
  let count = 0;
  let overHttp = 0;
  const groups = loadCases();
  const sample = groups.filter((group) => isNightly || needsService(group));
  for (const group of groups) {
    const files = group.documents.map((value, at) => [`policies/${at}.yaml`, JSON.stringify(value)]);
    const service = sample.includes(group)
      ? await startTestService({ config: group.config, files: Object.fromEntries(files), workers: 1 })
      : null;
    try {
      const judgeNext = judgeOf(policyOf(group));
      const answers = askPython(group, service?.url ?? null);
      assert.equal(answers.length, group.cases.length);
      group.cases.forEach((each, at) => {
        const [local, client] = answers[at]!;
        const verdict = JSON.parse(local) as Record<string, unknown>;
        const judged = judgeCase(each, judgeNext);
        const { monitored: _, ...expected } = each.expect;
        const found = [...differences(expected, verdict)];
        for (const field of ['decision', 'action', 'rule', 'reason'])
          if (verdict[field] !== judged[field])
            found.push(`${field} is not that of judge: ${verdict[field]}`);
        if (client !== undefined) overHttp += 1;
        if (client !== undefined && local !== client) found.push(`in process ${local}, over HTTP ${client}`);
        wrong.push(...found.map((sentence) => `${group.file}: ${each.name}: ${sentence}`));
        count += 1;
      });
    } finally {
      await service?.stop();
    }
  }
  t.diagnostic(`${count} cases on the Python guard in process, ${overHttp} over HTTP`);
  assert.deepEqual(wrong, []);
  assert.equal(count, runAll().count);
  assert.equal(
    overHttp,
    sample.reduce((sum, { cases }) => sum + cases.length, 0),
  );
  assert.ok(overHttp > 0);
});
