/** The classifier of the guide in a separate process, called by a real service. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { expectRows } from '../src/core/testing/expect-rows.ts';
import { hook, run } from './hook/support.ts';
import { type ApiClient, openApiClient } from './support/api-client.ts';
import { ownNodeEnvironment, root } from './support/checkout.ts';
import { startTestService, type TestService } from './support/service.ts';

const guide = readFileSync(join(root, 'docs/how-to/add-a-classifier.md'), 'utf8');
const [, source = ''] = /```js\n(.*?)```/s.exec(guide) ?? [];
const folder = mkdtempSync(join(tmpdir(), 'classifier-test-'));
const SECRET = ['sk-', 'ABCDEF1234567890'].join('');

let server: ChildProcess;
let url = '';
let service: TestService;
let call: ApiClient;

before(async () => {
  writeFileSync(join(folder, 'classifier.mjs'), source);
  server = spawn(process.execPath, ['classifier.mjs'], {
    cwd: folder,
    env: { ...ownNodeEnvironment(), PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(server.stdout!), 'line')) as [string];
  url = line;
  service = await startTestService({ config: configure('ignore'), workers: 1 });
  call = openApiClient(service);
});
after(async () => {
  server?.kill();
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The configuration of the guide, with the address of the server that runs. */
function configure(onFailure: 'ignore' | 'block'): Record<string, unknown> {
  return {
    classifiers: [
      {
        name: 'keywords',
        url,
        boundaries: ['input', 'action'],
        labels: { insult: { score_min: 0.8, tag: 'content.insult', severity: 'high' } },
        timeout_ms: 5_000,
        on_failure: onFailure,
      },
    ],
    policies: [{ name: 'no-insults', boundary: ['input'], data_tags: ['content.insult'], action: 'block' }],
  };
}

const scan = async (text: string) => (await call('/v1/scan/input', { body: { text }, as: null })).body;

test('the rules of the operator match what the classifier finds, and only that', async () => {
  const rows = [
    ['You are a blockhead.', 'block', 'no-insults'],
    ['😀 You are a Nitwit.', 'block', 'no-insults'],
    ['You are kind.', 'allow', 'default.allow'],
    [`Use key ${SECRET}, blockhead`, 'block', 'builtin.secret.input'],
  ] as const;
  for (const [text, decision, rule] of expectRows(4, rows)) {
    const answer = await scan(text);
    assert.deepEqual([answer.decision, answer.rule], [decision, rule], text);
  }
  const { violations } = await scan('😀 You are a Nitwit.');
  assert.deepEqual(
    violations.map(({ rule_id, source: from, start, end, match }: Record<string, unknown>) => [
      rule_id,
      from,
      start,
      end,
      match,
    ]),
    [['classifier.keywords.insult', 'classifier', 12, 18, 'Nitwit']],
  );
});

test('the event, its explanation and the incident mark the finding, and hold no text', async () => {
  const { event_id } = await scan('Listen, blockhead: go.');
  const { body } = await call(`/v1/dashboard/incidents/${event_id}`, { as: { user: 'admin' } });
  assert.deepEqual(body.findings, [
    { tags: ['content.insult'], severity: 'high', count: 1, example: false, is_classified: true },
  ]);
  assert.equal(body.explanation_status, 'explained');
  const origins = body.explanation.evaluations.map(({ tag, origin }: Record<string, unknown>) => [
    tag,
    origin,
  ]);
  assert.deepEqual(origins, [['content.insult', 'classified']]);
  assert.equal(body.explanation.matches_record, true);
  assert.ok(!JSON.stringify(body).includes('blockhead'));
});

test('the result of a tool is flagged by the built-in rule of its tag', async () => {
  const body = { tool: 'read', phase: 'response', output: { note: 'the blockhead' }, agent_id: 'reader' };
  const answer = (await call('/v1/intercept/tool', { body, as: null })).body;
  assert.deepEqual([answer.decision, answer.action], ['allow', 'flag']);
  assert.deepEqual(
    answer.violations.map(({ source: from, path }: Record<string, unknown>) => [from, path]),
    [['classifier', '$.note']],
  );
});

test('metrics count the calls, and the state of the classifier is listed', async () => {
  const metrics: string = (await call('/v1/metrics')).body;
  assert.match(metrics, /service_classifier_calls_total\{classifier="keywords",outcome="answered"\} [1-9]/);
  assert.match(metrics, /service_classifier_duration_seconds_count\{classifier="keywords"\} [1-9]/);
  const { drivers } = (await call('/v1/dashboard/service', { as: { user: 'admin' } })).body;
  const states = drivers.filter(({ kind }: { kind: string }) => kind === 'classifier');
  assert.deepEqual(states, [
    { kind: 'classifier', name: 'keywords', driver: 'http', status: 'ok', detail: null },
  ]);
});

test('a hook that decides without a service calls the classifier too', async () => {
  const home = mkdtempSync(join(tmpdir(), 'classifier-hook-'));
  writeFileSync(join(home, 'service.yaml'), JSON.stringify(configure('ignore')));
  const rows = [
    ['hello blockhead', 'block'],
    ['hello', 'allow'],
    ['a blockhead again, after a policy could have been saved', 'block'],
  ] as const;
  for (const [prompt, decision] of expectRows(3, rows)) {
    const event = { hook_event_name: 'UserPromptSubmit', session_id: 's', cwd: home, prompt };
    const { stdout } = await hook(home, event, ['--dialect', 'claude-code'], { SERVICE_HOOK_DAEMON: 'off' });
    assert.equal(stdout.includes('"block"') ? 'block' : 'allow', decision, `${prompt}: ${stdout}`);
  }
  rmSync(home, { recursive: true, force: true });
});

test('without the classifier the rules decide alone, or the content is blocked', async () => {
  const strict = await startTestService({ config: configure('block'), workers: 1 });
  server.kill();
  await once(server, 'exit');
  try {
    const { decision, rule } = await scan('You are a blockhead.');
    assert.deepEqual([decision, rule], ['allow', 'default.allow']);
    const answer = await openApiClient(strict)('/v1/scan/input', {
      body: { text: 'You are kind.' },
      as: null,
    });
    assert.deepEqual(
      [answer.status, answer.body.decision, answer.body.rule],
      [200, 'block', 'coverage.exceeded'],
    );
    assert.match(answer.body.reason, /^The classifier `keywords` could not be reached/);
    for (const each of [service, strict]) {
      const { code, stdout } = await run(each.dir, ['doctor', '--json'], '', { HOME: folder });
      const { checks } = JSON.parse(stdout);
      const [check] = checks.filter(({ name }: { name: string }) => name === 'config.classifier');
      assert.equal(check.status, each === strict ? 'fail' : 'warn');
      if (each === strict) assert.equal(code, 1);
    }
    assert.ok(!`${service.logs()}${strict.logs()}`.includes('blockhead'));
  } finally {
    await strict.stop();
  }
});
