/** Recorded answers of models, good and hostile: what is read from each, and that none of them changes a file. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { autoConfigAdvisor } from '../../src/core/advisors/auto-config.ts';
import { type IntegrationRequest, integrationAdvisor } from '../../src/core/advisors/integration.ts';
import type { ProjectOutline } from '../../src/core/advisors/project-outline.ts';
import { recommenderAdvisor } from '../../src/core/advisors/recommender.ts';
import type { AdvisorReading } from '../../src/core/advisors/types.ts';
import { buildPromptVocabulary } from '../../src/core/advisors/vocabulary.ts';
import { expectRows } from '../../src/core/testing/expect-rows.ts';
import { buildTestPolicy } from '../../src/core/testing/policies.ts';
import { type ArtifactCheck, checkDocuments } from '../../src/features/advisors/check-artifacts.ts';
import { checkCode, findRefusedCalls } from '../../src/features/advisors/check-code.ts';
import { examineProposal } from '../../src/features/advisors/examine-proposal.ts';
import { loadConfig } from '../../src/server/load-config.ts';
import {
  AUTO_CONFIG_GOOD,
  AUTO_CONFIG_HOSTILE,
  buildTraversal,
  INTEGRATION_BROKEN,
  INTEGRATION_GOOD,
  INTEGRATION_HOSTILE,
  RECOMMEND_CHATTY,
  RECOMMEND_FENCED,
  RECOMMEND_GOOD,
  RECOMMEND_MALFORMED,
  RECOMMEND_TRUNCATED,
  RECOMMEND_WEAKENING,
  TRAVERSALS,
} from '../support/model-server/answers.ts';
import { sampleRows } from '../support/nightly.ts';

const folder = mkdtempSync(join(tmpdir(), 'answers-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const outline: ProjectOutline = {
  ...{ languages: [], packages: [], imports: [], frameworks: [], agents: [], mcp_servers: [] },
  tools: [{ name: 'send_email', parameters: ['to', 'body'] }],
  ...{ file_count: 1, is_partial: false },
};
const aggregates = {
  since: '7d',
  total_events: 0,
  ...{ by_boundary: [], by_tag: [], by_tool: [], by_agent: [], rules: [], dead_rules: [] },
  ...{
    default_action: 'block',
    undeclared_tools: 'allow',
    unknown_agents: 'allow',
    contracts: 0,
    identities: 0,
  },
  vocabulary: buildPromptVocabulary(buildTestPolicy()),
};
const recommend = (answer: string): AdvisorReading => recommenderAdvisor.read(answer, aggregates);

async function check({ artifacts }: AdvisorReading): Promise<ArtifactCheck> {
  const read = await loadConfig({ path: null, env: {}, cwd: folder, secrets: 'leave' });
  assert.ok(read.ok);
  return checkDocuments(artifacts, { config: read.config });
}

/** Examines files in this process, which is quicker. */
async function examine({ artifacts: files }: AdvisorReading) {
  const read = await loadConfig({ path: null, env: {}, cwd: folder, secrets: 'leave' });
  assert.ok(read.ok);
  return examineProposal({ files, config: read.config });
}

test('good, chatty and fenced answers give the same rule', async () => {
  const answers = expectRows(3, [RECOMMEND_GOOD, RECOMMEND_CHATTY, RECOMMEND_FENCED]);
  const checked = sampleRows(answers, 3);
  for (const answer of answers) {
    const reading = recommend(answer);
    assert.deepEqual(reading.problems, []);
    assert.equal(reading.artifacts.length, 1);
    assert.match(reading.artifacts[0]!.path, /^policies\/recommended(?:-cards)?\.yaml$/);
    assert.ok(!/```|END|FILE:/.test(reading.artifacts[0]!.text + reading.summary));
    if (!checked.includes(answer)) continue;
    const { problems, review } = await check(reading);
    assert.deepEqual(problems, []);
    assert.equal(review.together?.weakens, false);
    assert.match(
      review.together?.changes.join('\n') ?? '',
      /^\+ rule recommended-redact-cards: block at output/m,
    );
  }
  assert.match(recommend(RECOMMEND_CHATTY).summary, /Let me know/);
});

test('an answer that does not compile has problems that name the place', async () => {
  const { problems } = await check(recommend(RECOMMEND_MALFORMED));
  assert.match(problems.join('\n'), /policies\/recommended-cards\.yaml/);
  assert.ok(!problems.join('\n').includes(tmpdir()), 'no path of a temporary folder');
});

test('an answer that breaks off gives no file', () => {
  const { problems, artifacts } = recommend(RECOMMEND_TRUNCATED);
  assert.deepEqual(artifacts, []);
  assert.match(problems.join('\n'), /not closed/);
});

test('a proposal that allows secrets is marked with the places', async () => {
  const { problems, review } = await check(recommend(RECOMMEND_WEAKENING));
  assert.deepEqual(problems, []);
  assert.equal(review.together?.weakens, true);
  assert.match(review.together?.lets_through.join('\n') ?? '', /input, secret.*block -> allow/);
});

test('a path out of the staging folder gives no file at all', () => {
  let refused = 0;
  for (const path of TRAVERSALS) {
    for (const read of [
      recommend,
      (answer: string) =>
        autoConfigAdvisor.read(answer, { outline, has_configuration: false, reads_identities: true }),
    ]) {
      const { problems, artifacts } = read(buildTraversal(path));
      assert.deepEqual(artifacts, [], JSON.stringify(path));
      assert.ok(problems.length > 0, JSON.stringify(path));
      assert.ok(!problems.join().includes('outside'), 'the path is not repeated');
      refused += 1;
    }
  }
  assert.equal(refused, 40);
});

test('a configuration is proposed with safe keys only', async () => {
  const read = (answer: string) =>
    autoConfigAdvisor.read(answer, { outline, has_configuration: false, reads_identities: true });
  const good = await check(read(AUTO_CONFIG_GOOD));
  assert.deepEqual(good.problems, []);
  assert.equal(good.review.together?.changes.filter((line) => line.startsWith('+ contract')).length, 2);
  const hostile = await check(read(AUTO_CONFIG_HOSTILE));
  assert.match(hostile.problems.join('\n'), /may not set/);
  assert.match(hostile.problems.join('\n'), /server\.host/);
  const off = read('Off.\n--- FILE: service.yaml ---\nsecret_detection: {enabled: false}\n--- END ---');
  const { review } = await check(off);
  assert.equal(review.together?.weakens, true);
  assert.match(review.together?.lets_through.join('\n') ?? '', /`secret_detection` is switched off/);
});

test('each setting of a proposed configuration that weakens is marked', async () => {
  const read = (text: string) =>
    autoConfigAdvisor.read(`Hi.\n--- FILE: service.yaml ---\n${text}\n--- END ---`, {
      ...{ outline, has_configuration: false, reads_identities: true },
    });
  const rows: readonly (readonly [text: string, found: RegExp | null])[] = [
    ['policy: {builtin_rules: false, default_action: allow}', /input, secret\S*: block -> allow/],
    ['pii_protection: {enabled: true, action: allow}', /input, personal\S*: redact -> allow/],
    ['policy: {default_action: flag}', /tags that no rule names: block -> flag/],
    ['command_detection: {enabled: false}', /`command_detection` is switched off/],
    [
      'policies: [{name: x, boundary: input, data_tags: [secret], action: allow}]',
      /secret\S*: block -> allow/,
    ],
    ['server: {host: 127.0.0.1, port: 8000, mode: sidecar}', null],
    ['policy: {default_action: block, undeclared_tools: block}', null],
  ];
  for (const [text, found] of rows) {
    const examined = await examine(read(text));
    assert.ok('policy' in examined, text);
    assert.equal(examined.weakens, found !== null, text);
    if (found !== null) assert.match(examined.lets_through.join('\n'), found);
  }
  assert.equal(rows.length, 7);
  const variable = await examine(read(`policies: [{name: "$\{HOME}", boundary: input, action: block}]`));
  assert.match(JSON.stringify(variable), /may not take values from the environment/);
});

test('a proposal is never called harmless because it is too large to compare', async () => {
  const write = (count: number) =>
    Array.from(
      { length: count },
      (_, at) =>
        `  - {name: r${at}, boundary: action, condition: {tools: [t${at}], agents: [a${at}]}, data_tags: [x${at}], action: block}`,
    ).join('\n');
  const propose = (count: number) =>
    examine(recommend(`Hi.\n--- FILE: policies/a.yaml ---\nversion: v1alpha1\npolicies:\n${write(count)}\n`));
  const many = await propose(60);
  assert.ok('policy' in many && many.weakens);
  assert.match(many.lets_through.join('\n'), /too many rules to compare/);
  assert.match(JSON.stringify(await propose(201)), /more than 200 rules/);
});

test('an existing configuration is not replaced', () => {
  const rows = [true, false].map((hasConfiguration) => {
    const request = { outline, has_configuration: hasConfiguration, reads_identities: true };
    const { artifacts, problems } = autoConfigAdvisor.read(AUTO_CONFIG_GOOD, request);
    return [artifacts.length, problems.length, /not replaced/.test(problems.join())];
  });
  assert.deepEqual(rows, [
    [0, 1, true],
    [4, 0, false],
  ]);
});

test('code is parsed and never run, and hostile calls are refused', async () => {
  const request: IntegrationRequest = {
    target: 'langchain',
    label: 'LangChain',
    language: 'python',
    adapter: readFileSync('integrations/langchain.py', 'utf8'),
    ...{ adapter_file: 'service_langchain.py', reference: '' },
    outline,
  };
  const rows: readonly (readonly [string, RegExp | null])[] = [
    [INTEGRATION_GOOD, null],
    [INTEGRATION_BROKEN, /syntax error in line 1/],
    [INTEGRATION_HOSTILE, /starts other programs/],
  ];
  for (const [answer, problem] of rows) {
    const { artifacts, problems } = integrationAdvisor.read(answer, request);
    assert.deepEqual(problems, []);
    assert.equal(artifacts[0]!.path, 'service_langchain.py', 'the adapter comes along');
    const found = (await checkCode(artifacts)).problems.join('\n');
    if (problem === null) assert.equal(found, '');
    else assert.match(found, problem);
  }
  const script: IntegrationRequest = {
    ...{ ...request, language: 'typescript' },
    adapter: readFileSync('integrations/mcp.ts', 'utf8'),
    adapter_file: 'service-mcp.ts',
  };
  const head = "import { guardClient } from './service-mcp.ts';\n";
  const broken = integrationAdvisor.read(`x\n--- FILE: a.ts ---\n${head}const a: string = ;\n`, script);
  assert.match((await checkCode(broken.artifacts)).problems.join(), /syntax error/);
  const fine = integrationAdvisor.read(
    `x\n--- FILE: a.ts ---\n${head}export const c: object = guardClient;\n`,
    script,
  );
  assert.deepEqual((await checkCode(fine.artifacts)).problems, []);
  assert.equal(rows.length, 3);
});

test('each call that generated code must not have is refused', () => {
  const refused = [
    ...['eval("1")', 'exec ("1")', '__import__("os")', 'import importlib', 'import pickle'],
    ...['__builtins__["ev" + "al"]("1")', 'os.system("x")', 'os.execvp("x", [])', 'os.spawnlp(0, "x")'],
    ...[
      'from os import path, system',
      'import subprocess',
      'import pty; pty.spawn("x")',
      'get(verify=False)',
    ],
    ...["import { exec } from 'node:child_process'", "import vm from 'node:vm'", 'new Function("1")'],
    ...["import { Worker } from 'node:worker_threads'", 'rejectUnauthorized: false'],
  ];
  const allowed = [
    ...['import os\nurl = os.environ["SERVICE_URL"]', 'import re\nname = re.compile("x")', 'model.eval()'],
    ...['from os import environ', 'retrieval("x")', 'def execute(x): return x'],
  ];
  for (const text of refused) assert.ok(findRefusedCalls(text).length > 0, text);
  for (const text of allowed) assert.deepEqual(findRefusedCalls(text), [], text);
  assert.deepEqual([refused.length, allowed.length], [18, 6]);
});

test('a file whose language cannot be parsed here is marked as not checked', async () => {
  const files = [
    { path: 'a.py', text: 'def broken(:\n' },
    { path: 'b.ts', text: 'enum Color { Red }\n' },
  ];
  const { PATH } = process.env;
  process.env.PATH = folder;
  try {
    const { problems, syntax } = await checkCode(files);
    assert.deepEqual(syntax, {
      'a.py': 'not checked: there is no `python3` on this machine',
      'b.ts': 'parsed',
    });
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, /`b\.ts` has a syntax error, or TypeScript that Node cannot run/);
  } finally {
    process.env.PATH = PATH;
  }
  const again = await checkCode(files);
  assert.deepEqual([again.syntax?.['a.py'], again.problems.length], ['parsed', 2]);
});

test('code on which the parser gives up is refused, and not marked as unchecked', async () => {
  const files = [
    { path: 'a.py', text: `x = ${'-'.repeat(60_000)}1\n` },
    { path: 'b.ts', text: `export const x = ${'('.repeat(60_000)}1;\n` },
  ];
  const { problems } = await checkCode(files);
  assert.deepEqual(
    files.map(({ path }) => problems.some((problem) => problem.includes(`\`${path}\``))),
    [true, true],
    problems.join('\n'),
  );
});

test('no answer has written a file', () => {
  assert.deepEqual(readdirSync(folder), []);
  for (const path of ['/tmp/advisors-outside.yaml', join(folder, '..', 'outside.yaml')])
    assert.ok(!existsSync(path));
});
