/**
 * Runs the files that `service setup` writes for frameworks with the frameworks themselves, in front of the real
 * service.
 */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { locate } from '../../scripts/components/components.ts';
import { frameworks } from '../../src/entry/cli/setup/frameworks.ts';
import { ownNodeEnvironment, type Ran, root, runProgram } from '../support/checkout.ts';
import { startTestService, type TestService } from '../support/service.ts';

const here = import.meta.dirname;
const folder = mkdtempSync(join(tmpdir(), 'frameworks-'));
const config = {
  policies: [
    {
      name: 'refunds',
      boundary: 'action',
      condition: { tools: ['issue_refund'] },
      action: 'require_approval',
    },
  ],
};
let service: TestService;
before(async () => {
  copyFileSync(join(root, 'integrations/guard.py'), join(folder, 'guard.py'));
  service = await startTestService({ config });
});
after(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const setup = (...words: string[]) =>
  runProgram([join(root, 'service'), 'setup', ...words], { cwd: folder, env: ownNodeEnvironment({}) });

const missing = (component: string) =>
  locate(component) === null
    ? `${component} is not installed (scripts/run scripts/components/main.ts ${component})`
    : false;

/** Runs a Python program that can import the drivers and the files of setup. */
function python(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const program = locate('frameworks-python') ?? 'python3';
  const PYTHONPATH = [folder, join(here, 'python')].join(delimiter);
  return runProgram([program, '-B', ...words], {
    cwd: folder,
    env: ownNodeEnvironment({ PYTHONPATH, SERVICE_URL: service.url, ...env }),
  });
}

/** The expected results of every framework's agent, and the input of its model and its tool. */
const OUTCOMES = {
  clean: ['What is the weather?', ['Rome'], 'Sunny.', 'It is sunny.', null],
  input_blocked: [null, [], null, null, 'A secret was found in input.'],
  input_masked: ['My social security number is [REDACTED].', [], null, 'Noted.', null],
  call_blocked: ['Look it up.', [], 'A secret was found in a tool call or message.', 'I could not.', null],
  result_masked: ['Look it up.', ['Rome'], 'DATABASE_URL=[REDACTED]', 'There it is.', null],
  output_masked: ['What is the setting?', [], null, 'It is DATABASE_URL=[REDACTED]', null],
};

function assertOutcomes(ran: Ran, scenes: Readonly<Record<string, unknown>>): void {
  assert.equal(ran.code, 0, ran.stderr);
  const found = JSON.parse(ran.stdout.trim().split('\n').at(-1)!) as Record<string, Record<string, unknown>>;
  const told = (text: unknown) => (typeof text === 'string' ? text.replace('Refused: ', '') : text);
  const seen = Object.entries(found).map(([name, { question, ran_with, result, answer, refused }]) => [
    name,
    [question, ran_with, told(result), answer, told(refused)],
  ]);
  assert.deepEqual(Object.fromEntries(seen), scenes);
}

const PYTHON = ['autogen', 'langchain', 'langgraph', 'llamaindex', 'openai-agents'];

for (const name of PYTHON)
  test(`an agent of ${name} is guarded by its file`, { skip: missing('frameworks-python') }, async () => {
    assert.match((await setup(name)).stdout, /^created {2}service_/);
    assertOutcomes(await python([join(here, 'python', `${name.replaceAll('-', '_')}_driver.py`)]), OUTCOMES);
    const gone = await python([join(here, 'python', `${name.replaceAll('-', '_')}_driver.py`)], {
      SERVICE_URL: 'http://127.0.0.1:9',
    });
    const outcomes = Object.values(JSON.parse(gone.stdout.trim().split('\n').at(-1)!)) as {
      refused: string;
    }[];
    assert.equal(outcomes.length, 6);
    for (const { refused } of outcomes) assert.match(refused, /could not be reached/);
  });

test('the files of TypeScript import the SDK and have the types of their frameworks', {
  skip: missing('frameworks-node'),
}, async () => {
  const modules = join(root, 'tests/frameworks/light/node_modules');
  const app = join(folder, 'app');
  mkdirSync(join(app, 'node_modules', 'agent-safety'), { recursive: true });
  for (const name of readdirSync(modules)) symlinkSync(join(modules, name), join(app, 'node_modules', name));
  const exported = { './sdk': './src/sdk/index.ts', './sdk/*': './src/sdk/adapters/*.ts' };
  const manifest = { name: 'agent-safety', type: 'module', exports: exported };
  writeFileSync(join(app, 'node_modules/agent-safety/package.json'), JSON.stringify(manifest));
  symlinkSync(join(root, 'src'), join(app, 'node_modules/agent-safety/src'));
  writeFileSync(join(app, 'package.json'), '{"type": "module"}');
  const files = frameworks.filter(({ file }) => file.endsWith('.ts'));
  assert.equal(files.length, 8);
  for (const { name, file } of files) {
    assert.match((await setup(name, '--force')).stdout, new RegExp(`${file}\\n`), name);
    copyFileSync(join(folder, file), join(app, file));
    const text = readFileSync(join(app, file), 'utf8');
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('//'));
    assert.ok(lines.length <= 14, `${file} has ${lines.length} lines`);
    const ran = await runProgram([process.execPath, file], { cwd: app, env: ownNodeEnvironment({}) });
    assert.equal(ran.code, 0, ran.stderr);
  }
  const compilerOptions = {
    noEmit: true,
    exactOptionalPropertyTypes: false,
    lib: ['ES2024', 'DOM', 'DOM.AsyncIterable', 'ESNext.Disposable'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const extended = { extends: join(root, 'tsconfig.base.json'), compilerOptions, include: ['*.ts'] };
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify(extended));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const checked = await runProgram([process.execPath, tsc, '-p', app], { cwd: app });
  assert.equal(checked.code, 0, checked.stdout);
});

test('every file can be read by its language, alone', async () => {
  const files = frameworks.map(({ file }) => file).filter((file) => file.endsWith('.py'));
  assert.equal(files.length, 6);
  for (const { name } of frameworks) assert.equal((await setup(name, '--force')).code, 0, name);
  const compiled = await runProgram(
    [
      'python3',
      '-c',
      'import sys\nfor each in sys.argv[1:]: compile(open(each).read(), each, "exec")',
      ...files,
    ],
    { cwd: folder },
  );
  assert.equal(compiled.code, 0, compiled.stderr);
  for (const file of files)
    assert.doesNotMatch(readFileSync(join(folder, file), 'utf8'), /^from (guard|messages) /m);
});

test('a changed file is kept, unless an option says otherwise', async () => {
  await setup('crewai', '--force');
  const path = join(folder, 'service_crewai.py');
  const text = readFileSync(path, 'utf8');
  assert.match((await setup('crewai')).stdout, /^Nothing to change\./);
  writeFileSync(path, '# mine\n');
  for (const words of [[], ['--uninstall']]) {
    const kept = await setup('crewai', ...words);
    assert.deepEqual([kept.code, /was kept/.test(kept.stderr)], [1, true]);
    assert.equal(readFileSync(path, 'utf8'), '# mine\n');
  }
  assert.match((await setup('crewai', '--force')).stdout, /^changed {2}service_crewai\.py/);
  assert.equal(readFileSync(path, 'utf8'), text);
  assert.match((await setup('crewai', '--uninstall')).stdout, /^deleted/);
  assert.match((await setup('crewai', '--scope', 'user')).stderr, /--scope is for coding agents only/);
});

test('a call waits for its approver, and reports their actual answer', async () => {
  const operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const authorization = `Bearer ${operator}`;
  const decide = async (order: string, verb: 'approve' | 'deny') => {
    for (;;) {
      const response = await fetch(`${service.url}/v1/approvals?status=pending`, {
        headers: { authorization },
      });
      const { approvals } = (await response.json()) as {
        approvals: { request_id: string; arguments: string }[];
      };
      const found = approvals.find((each) => each.arguments.includes(order));
      if (found === undefined) {
        await sleep(50);
        continue;
      }
      await fetch(`${service.url}/v1/approvals/${found.request_id}/${verb}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{}',
      });
      return;
    }
  };
  const driver = join(here, 'python/approval_driver.py');
  const [asked] = await Promise.all([
    python([driver, '60', 'yes-1', 'no-1']),
    decide('yes-1', 'approve').then(() => decide('no-1', 'deny')),
  ]);
  assert.deepEqual(JSON.parse(asked.stdout), ['yes-1', 'Refused: the approval request is denied.']);
  const unheard = await python([driver, '0', 'late-1']);
  assert.match(JSON.parse(unheard.stdout)[0], /approval request apr_\w+ waits for an operator/);
});

/** Answers that are not valid, or not from this service. */
const FAULTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  garbage: (response) => response.end('<html>'),
  list: (response) => response.end('[]'),
  nothing: (response) => response.end('{}'),
  unknown: (response) => response.end('{"decision": "perhaps"}'),
  empty_change: (response) => response.end('{"decision": "modify"}'),
  fault: (response) => response.writeHead(500).end('{"decision": "block", "reason": "A fault."}'),
  refused: (response) => response.writeHead(401).end('{"error": "Who are you?"}'),
  odd_error: (response) => response.writeHead(502).end('bad gateway'),
  elsewhere: (response) => response.writeHead(302, { location: '/allowed' }).end(),
  hung_up: (response) => response.destroy(),
  silent: () => {},
};

test('every fault denies, and only an allow passes', async () => {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      assert.equal(request.headers['x-service-key'], 'k-1');
      const fault = body === '' ? undefined : FAULTS[(JSON.parse(body) as { text: string }).text];
      if (fault === undefined) response.end('{"decision": "allow"}');
      else fault(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const names = Object.keys(FAULTS);
    const ran = await python([join(here, 'python/guard_driver.py'), url, 'good', ...names]);
    const outcomes = JSON.parse(ran.stdout) as Record<string, string>;
    assert.equal(outcomes.good, 'passed: good');
    let ran_count = 0;
    for (const name of names) {
      assert.match(outcomes[name]!, /^Refused: /, name);
      ran_count += 1;
    }
    assert.equal(ran_count, 11);
    assert.match(outcomes.fault!, /A fault\./);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
