/** The commands of the advisory layer, against a model server on loopback. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MAIN_FILE } from '../../src/entry/cli/testing/main-file.ts';
import { type RunResult, runInProcess, withFolder } from '../../src/entry/cli/testing/run.ts';
import { callOperation } from '../../src/operations/call.ts';
import { scanInput } from '../../src/operations/scan.ts';
import { buildOperatorCaller } from '../../src/runtime/access/callers.ts';
import { loadConfig } from '../../src/server/load-config.ts';
import { openLocalRuntime } from '../../src/server/local.ts';
import {
  AUTO_CONFIG_GOOD,
  buildTraversal,
  COMPLIANCE_GOOD,
  INCIDENT_GOOD,
  INTEGRATION_GOOD,
  RECOMMEND_GOOD,
  RECOMMEND_MALFORMED,
  RECOMMEND_WEAKENING,
  TRAVERSALS,
} from '../support/model-server/answers.ts';
import { MODEL, type ModelServer, startModelServer } from '../support/model-server/model-server.ts';
import { sampleRows, testNightly } from '../support/nightly.ts';

/** Concatenated, so that no secret scanner of repositories reports it. */
const SECRET = ['sk-', 'ABCDEF1234567890abcd'].join('');
const STAGED = '.safeai-generated';

/** Records a check as a service would, and returns the event. */
async function recordScan(cwd: string, body: object): Promise<string> {
  const read = await loadConfig({ path: join(cwd, 'service.yaml'), env: {}, cwd, secrets: 'leave' });
  assert.ok(read.ok);
  const runtime = await openLocalRuntime(read.config);
  try {
    const context = { runtime, caller: buildOperatorCaller('cli:test'), request_id: 'test' };
    const answer = (await callOperation(scanInput, body, context)) as { readonly event_id: string };
    return answer.event_id;
  } finally {
    await runtime.close();
  }
}

interface Project {
  readonly cwd: string;
  readonly model: ModelServer;
  readonly run: (...args: string[]) => Promise<RunResult>;
}

/** Runs `use` in a folder with a configuration that names a model server. */
async function withProject(use: (project: Project) => Promise<void>): Promise<void> {
  const model = await startModelServer(null);
  try {
    await withFolder(async (cwd) => {
      writeConfig(cwd, model.url);
      await use({ cwd, model, run: (...args) => runInProcess(args, { cwd }) });
    });
  } finally {
    model.close();
  }
}

function writeConfig(cwd: string, baseUrl: string, settings = ''): void {
  writeFileSync(
    join(cwd, 'service.yaml'),
    `paths: {identity_files: [agents/*.yaml]}\nintelligence: {enabled: true, backend: {provider: local, model: "${MODEL}", base_url: "${baseUrl}", retries: 0}${settings}}\n`,
  );
}

/** Returns the files of a folder with their texts, without the state and the staged files. */
function snapshot(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const paths = files.map((each) => join(each.parentPath, each.name));
  const own = paths.filter((path) => !path.includes('/.service/') && !path.includes(`/${STAGED}/`));
  return Object.fromEntries(own.sort().map((path) => [path, readFileSync(path, 'utf8')]));
}

test('explain prints the answer, and the prompt without sending it', () =>
  withProject(async ({ run, model, cwd }) => {
    const eventId = await recordScan(cwd, { text: `Use ${SECRET}`, agent_id: SECRET });
    const shown = await run('intelligence', 'explain', eventId, '--show-prompt');
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /^--- system ---\n[\s\S]*\n--- user ---\n<untrusted-data name="event">/);
    assert.ok(!shown.stdout.includes(SECRET) && !shown.stdout.includes(eventId));
    assert.match(shown.stderr, /Nothing was sent/);
    assert.equal(model.questions.length, 0);
    model.answerWith(INCIDENT_GOOD);
    const explained = await run('intelligence', 'explain', eventId);
    assert.equal(explained.code, 0, explained.stderr);
    assert.match(explained.stdout, /^advisor-test:1b writes:\n\| Category: secret-exposure\n/);
    const { messages } = model.questions[0]!.body;
    assert.equal(
      `--- system ---\n${messages[0].content}\n--- user ---\n${messages[1].content}\n`,
      shown.stdout,
    );
    const json = await run('intelligence', 'explain', eventId, '--json');
    assert.equal(JSON.parse(json.stdout).metadata.severity, 'high');
    const unknown = await run('intelligence', 'explain', 'evt_000000000000000000000000');
    assert.deepEqual([unknown.code, model.questions.length], [1, 2]);
  }));

test('recommend stages, applies and takes back', () =>
  withProject(async ({ run, model, cwd }) => {
    await recordScan(cwd, { text: 'hello' });
    const before = snapshot(cwd);
    model.answerWith(RECOMMEND_GOOD);
    const staged = await run('intelligence', 'recommend', '--since', '7d');
    assert.equal(staged.code, 0, staged.stderr);
    assert.match(staged.stdout, /staged {3}\.safeai-generated\/policies\/recommended-cards\.yaml/);
    assert.match(staged.stdout, /\+ rule recommended-redact-cards/);
    assert.match(staged.stdout, /replay of 7d: 1 the same/);
    assert.deepEqual(snapshot(cwd), before, 'staging changes nothing');
    const applied = await run('intelligence', 'recommend', '--since', '7d', '--apply');
    assert.equal(applied.code, 0, applied.stderr);
    assert.equal(model.questions.length, 1, 'what was shown is installed, so the model is not asked again');
    assert.match(applied.stdout, /^\+ {2}- name: recommended-redact-cards/m);
    const file = join(cwd, 'policies/recommended-cards.yaml');
    const shown = /^@@ [^\n]*\n((?:\+[^\n]*\n)+)/m.exec(applied.stdout)?.[1]?.replace(/^\+/gm, '');
    assert.equal(readFileSync(file, 'utf8'), shown, 'the file is the one that was shown');
    const rules = await run('policy', 'rules', '--json');
    assert.match(rules.stdout, /recommended-redact-cards/);
    const again = await run('intelligence', 'recommend', '--apply');
    assert.match(again.stdout, /Nothing to apply|sent back/);
    assert.ok(model.questions.length > 1, 'another policy needs another answer');
    writeFileSync(file, `${readFileSync(file, 'utf8')}# edited\n`);
    const refused = await run('intelligence', 'undo');
    assert.deepEqual([refused.code, /Edited since/.test(refused.stderr)], [1, true]);
    writeFileSync(file, readFileSync(file, 'utf8').replace('# edited\n', ''));
    const undone = await run('intelligence', 'undo');
    assert.equal(undone.code, 0, undone.stderr);
    assert.deepEqual(snapshot(cwd), before);
    assert.equal((await run('intelligence', 'undo')).code, 1);
  }));

test('a weakening proposal is marked, and needs --confirm-weaker', () =>
  withProject(async ({ run, model, cwd }) => {
    const before = snapshot(cwd);
    model.answerWith(RECOMMEND_WEAKENING);
    const refused = await run('intelligence', 'recommend', '--apply', '--yes');
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /WEAKENS THE POLICY[\s\S]*input, secret[^\n]*block -> allow/);
    assert.match(refused.stderr, /weakens the policy, so nothing was applied/);
    assert.deepEqual(snapshot(cwd), before);
    for (const words of sampleRows([[], [' '], ['a\nb'], ['r'.repeat(501)]], 2)) {
      const blank = await run('intelligence', 'recommend', '--apply', '--confirm-weaker', ...words);
      assert.equal(blank.code, 2, blank.stderr);
      assert.deepEqual(snapshot(cwd), before);
    }
    const words = ['recommend', '--apply', '--confirm-weaker', 'asked for by Ada', '--json'];
    const forced = await run('intelligence', ...words);
    assert.equal(forced.code, 0, forced.stderr);
    assert.deepEqual(JSON.parse(forced.stdout).applied, ['policies/recommended-secrets.yaml']);
    const [backup] = readdirSync(join(cwd, '.service/advisor-backups'));
    const manifest = join(cwd, '.service/advisor-backups', backup!, 'manifest.json');
    assert.equal(JSON.parse(readFileSync(manifest, 'utf8')).note, 'asked for by Ada');
    const logged = await run('logs', '--policy', 'service.advisor_apply', '--json');
    assert.match(logged.stdout, /"weaker_places":[1-9]/);
    assert.doesNotMatch(logged.stdout, /Ada/);
    assert.equal((await run('intelligence', 'undo', '--json')).code, 0);
    assert.deepEqual(snapshot(cwd), before);
  }));

testNightly('auto-config, compliance and integrate make files, and each can be applied and undone', {}, () =>
  withProject(async ({ run, model, cwd }) => {
    mkdirSync(join(cwd, 'app'));
    writeFileSync(join(cwd, 'app/tools.py'), `@tool\ndef send_email(to: str): ...\nKEY = "${SECRET}"\n`);
    const before = snapshot(cwd);
    const rows: readonly (readonly [
      answer: string,
      args: readonly string[],
      files: readonly string[],
      root: string,
    ])[] = [
      [COMPLIANCE_GOOD, ['compliance', '--framework', 'HIPAA'], ['policies/compliance-hipaa.yaml'], ''],
      [
        AUTO_CONFIG_GOOD,
        ['auto-config', '--path', 'app'],
        ['agents/agents.yaml', 'contracts/tools.yaml', 'policies/generated.yaml', 'service.yaml'],
        'app',
      ],
      [
        INTEGRATION_GOOD,
        ['integrate', '--target', 'langchain', '--path', 'app'],
        ['service_langchain.py', 'service_integration.py'],
        'app',
      ],
    ];
    for (const [answer, args, files, root] of rows) {
      model.answerWith(answer);
      const { code, stdout, stderr } = await run('intelligence', ...args, '--apply', '--output-dir', 'out');
      assert.equal(code, 0, `${args[0]}: ${stdout}${stderr}`);
      for (const file of files) {
        assert.ok(existsSync(join(cwd, 'out', file)), file);
        assert.equal(
          readFileSync(join(cwd, root, file), 'utf8'),
          readFileSync(join(cwd, 'out', file), 'utf8'),
        );
      }
      assert.ok(!model.questions.at(-1)!.prompt.includes(SECRET));
      assert.equal((await run('intelligence', 'undo')).code, 0);
      const { [join(cwd, 'out')]: _, ...left } = snapshot(cwd);
      const own = Object.fromEntries(
        Object.entries(left).filter(([path]) => !path.startsWith(join(cwd, 'out'))),
      );
      assert.deepEqual(own, before, args[0]);
    }
    assert.match(model.questions.at(-1)!.prompt, /send_email/);
    assert.equal(rows.length, 3);
  }),
);

test('hostile answers change nothing on the disk', () =>
  withProject(async ({ run, model, cwd }) => {
    const before = snapshot(cwd);
    const paths = sampleRows(TRAVERSALS.slice(0, 8), 3);
    for (const path of paths) {
      model.answerWith(buildTraversal(path));
      const { code, stderr } = await run('intelligence', 'recommend', '--apply', '--yes');
      assert.equal(code, 1, path);
      assert.match(stderr, /cannot be used/);
    }
    model.answerWith(RECOMMEND_MALFORMED);
    assert.equal((await run('intelligence', 'recommend', '--apply', '--yes')).code, 1);
    assert.deepEqual(snapshot(cwd), before);
    assert.ok(!existsSync(join(cwd, STAGED)), 'nothing is staged');
    model.answerWith(`${RECOMMEND_GOOD}\n\u001b[2J\u202egnihtemos\nEffect on the policy\n  none`);
    const escaped = await run('intelligence', 'recommend');
    assert.ok(!/[\u001b\u202e]/.test(escaped.stdout), 'controls are escaped');
    assert.equal(
      escaped.stdout.match(/^Effect on the policy$/gm)?.length,
      1,
      'the model writes no such line',
    );
  }));

test('proposals are staged in a folder of their own only, which is checked before the model is called', () =>
  withProject(async ({ run, model, cwd }) => {
    mkdirSync(join(cwd, 'app'));
    writeFileSync(join(cwd, 'app/notes.txt'), 'mine');
    mkdirSync(join(cwd, 'policies'));
    const before = snapshot(cwd);
    model.answerWith('Off.\n--- FILE: service.yaml ---\nsecret_detection: {enabled: false}\n--- END ---');
    for (const folder of ['.', 'app', `${cwd}/app/..`]) {
      const { code, stderr } = await run(
        'intelligence',
        'auto-config',
        '--path',
        'app',
        '--output-dir',
        folder,
      );
      assert.deepEqual([code, /has files that are not proposals/.test(stderr)], [1, true], folder);
    }
    assert.equal(model.questions.length, 0);
    const config = readFileSync(join(cwd, 'service.yaml'), 'utf8');
    const wide = config.replace('paths: {', 'paths: {policy_files: [policies/**/*.yaml], ');
    writeFileSync(join(cwd, 'service.yaml'), wide);
    model.answerWith(RECOMMEND_WEAKENING);
    const active = await run('intelligence', 'recommend', '--output-dir', 'policies/new');
    assert.deepEqual([active.code, /would take effect/.test(active.stderr)], [1, true], active.stderr);
    writeFileSync(join(cwd, 'service.yaml'), config);
    assert.deepEqual(snapshot(cwd), before);
    for (const _ of ['new', 'again']) {
      const staged = await run('intelligence', 'recommend', '--output-dir', 'out');
      assert.equal(staged.code, 0, staged.stderr);
    }
  }));

test('a link that is planted in the staging folder is not followed', () =>
  withProject(async ({ run, model, cwd }) => {
    model.answerWith(RECOMMEND_GOOD);
    assert.equal((await run('intelligence', 'recommend')).code, 0);
    const before = snapshot(cwd);
    const staged = join(cwd, STAGED, 'policies/recommended-cards.yaml');
    const wanted = readFileSync(staged, 'utf8');
    rmSync(staged);
    symlinkSync(join(cwd, 'service.yaml'), staged);
    const refused = await run('intelligence', 'recommend', '--apply', '--yes');
    assert.deepEqual([refused.code, /is a link/.test(refused.stderr)], [1, true], refused.stderr);
    rmSync(staged);
    writeFileSync(staged, 'version: v1alpha1\npolicies: [{name: x, boundary: input, action: allow}]\n');
    assert.deepEqual(snapshot(cwd), before);
    assert.equal((await run('intelligence', 'recommend', '--apply')).code, 0);
    const applied = readFileSync(join(cwd, 'policies/recommended-cards.yaml'), 'utf8');
    assert.equal(applied, wanted, 'the answer is applied, not what lay in the staging folder');
    assert.equal((await run('intelligence', 'undo')).code, 0);
    assert.ok(!existsSync(join(cwd, 'policies')), 'the folder that was created is gone');
  }));

testNightly('a project with service.yml gets no second configuration', {}, () =>
  withProject(async ({ run, model, cwd }) => {
    mkdirSync(join(cwd, 'app'));
    writeFileSync(join(cwd, 'app/service.yml'), 'policy: {default_action: block}\n');
    const before = snapshot(cwd);
    model.answerWith(AUTO_CONFIG_GOOD);
    const { code, stderr } = await run('intelligence', 'auto-config', '--path', 'app', '--apply', '--yes');
    assert.deepEqual([code, /the path must be/.test(stderr)], [1, true], stderr);
    assert.match(model.questions[0]!.prompt, /"has_configuration": true/);
    assert.deepEqual(snapshot(cwd), before);
  }),
);

testNightly('a link in the way is not followed', {}, () =>
  withProject(async ({ run, model, cwd }) => {
    await withFolder(async (outside) => {
      symlinkSync(outside, join(cwd, 'policies'));
      symlinkSync(outside, join(cwd, 'staged'));
      model.answerWith(RECOMMEND_GOOD);
      const applied = await run('intelligence', 'recommend', '--apply', '--yes');
      assert.equal(applied.code, 1, applied.stdout);
      const staged = await run('intelligence', 'recommend', '--output-dir', 'staged');
      assert.equal(staged.code, 1, staged.stdout);
      assert.deepEqual(readdirSync(outside), []);
    });
  }),
);

test('a model that cannot be used is a sentence with the next step', () =>
  withProject(async ({ run, model, cwd }) => {
    const rows: readonly (readonly [Parameters<ModelServer['answerWith']>[0], RegExp])[] = [
      [{ status: 401 }, /wants a key \(HTTP 401\).*api_key_env/s],
      [{ status: 404 }, /no model `advisor-test:1b`/],
      [{ status: 429, headers: { 'retry-after': '100' } }, /limits the rate/],
      [{ status: 500 }, /HTTP 500/],
      [{ status: 302, headers: { location: 'http://attacker.example' } }, /redirected/],
      [{ text: 'Categ', is_cut: true }, /cut short after 8192 tokens.*answer_tokens_max/s],
      ['reset', /answers at|broke off/],
      ['not-json', /did not answer with JSON/],
      ['  ', /without text/],
    ];
    for (const [answer, sentence] of sampleRows(rows, 3)) {
      model.answerWith(answer);
      const { code, stderr } = await run('intelligence', 'compliance', '--framework', 'gdpr');
      assert.equal(code, 1);
      assert.match(stderr, sentence);
    }
    const json = await run('intelligence', 'compliance', '--framework', 'gdpr', '--json');
    assert.deepEqual([json.code, JSON.parse(json.stdout).status, json.stderr], [1, 'error', '']);
    assert.equal(rows.length, 9);
    writeConfig(cwd, 'http://127.0.0.1:9');
    assert.match(
      (await run('intelligence', 'status', '--check')).stdout,
      /No model server answers at `http:\/\/127\.0\.0\.1:9`/,
    );
  }));

test('the budget ends the calls of a day', () =>
  withProject(async ({ run, model, cwd }) => {
    writeConfig(cwd, model.url, ', budget: {calls_per_day: 2}');
    model.answerWith(COMPLIANCE_GOOD);
    for (let at = 0; at < 2; at += 1)
      assert.equal((await run('intelligence', 'compliance', '--framework', 'soc2')).code, 0);
    const refused = await run('intelligence', 'compliance', '--framework', 'soc2');
    assert.match(refused.stderr, /called 2 times within 24 hours.*calls_per_day/s);
    assert.equal(model.questions.length, 2);
  }));

test('status shows the back end, and asks it on request', () =>
  withProject(async ({ run, model, cwd }) => {
    const shown = await run('intelligence', 'status', '--json');
    assert.deepEqual(JSON.parse(shown.stdout), {
      ...{ enabled: true, backend: 'local', model: MODEL, base_url: model.url },
      ...{ api_key_env: null, key_is_set: null },
    });
    assert.equal(model.questions.length, 0);
    const asked = await run('intelligence', 'status', '--check');
    assert.deepEqual([asked.code, /The model answers/.test(asked.stdout)], [0, true]);
    writeFileSync(join(cwd, 'service.yaml'), '');
    const off = await run('intelligence', 'status', '--check');
    assert.deepEqual([off.code, /intelligence\.enabled/.test(off.stdout)], [1, true]);
    const prompt = await run('intelligence', 'compliance', '--framework', 'gdpr', '--show-prompt', '--json');
    assert.equal(JSON.parse(prompt.stdout).messages.length, 2);
  }));

test('Ctrl-C stops a call, and nothing is changed', () =>
  withProject(async ({ model, cwd }) => {
    model.answerWith('silence');
    const before = snapshot(cwd);
    const asked = model.nextQuestion();
    const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
    const child = spawn(process.execPath, [MAIN_FILE, 'intelligence', 'compliance', '--framework', 'gdpr'], {
      cwd,
      env: { PATH, HOME, NODE_COMPILE_CACHE },
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    await asked;
    child.kill('SIGINT');
    assert.equal(await ended, 130, stderr);
    await model.disconnected;
    assert.match(stderr, /Waiting for advisor-test:1b[\s\S]*Stopped: nothing was changed/);
    assert.deepEqual(snapshot(cwd), before);
  }));
