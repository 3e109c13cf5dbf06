import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { StartReport } from './start-report.ts';
import { runProcess, startProgram, withFolder } from './testing/run.ts';

const exec = promisify(execFile);
const RULE =
  'policies:\n  - {name: no-mail, boundary: input, data_tags: [personal.pii.email], action: block}\n';

test('serve reports its address, and the command that it suggests is blocked', async () => {
  await withFolder(async (cwd) => {
    const service = await startProgram(['serve', '--port', '0', '--workers', '2', '--json'], {
      cwd,
      until: '\n',
    });
    try {
      const report = JSON.parse(service.stdout()) as StartReport;
      assert.equal(report.try_action, 'block');
      assert.equal(report.config_file, null);
      assert.equal(report.state_dir, join(cwd, '.service'));
      const { stdout } = await exec('sh', ['-c', report.try]);
      assert.equal(JSON.parse(stdout).decision, 'block');
      assert.equal((await fetch(report.docs_url)).status, 200);

      const logs = await runProcess(['logs', '--json'], { cwd });
      assert.equal(JSON.parse(logs.stdout.trim()).caller_id, 'loopback', logs.stderr);
      await runProcess(['scan', '--agent', 'beside', 'hello'], { cwd });
      const both = await runProcess(['logs', '--agent', 'beside', '--json'], { cwd });
      assert.match(
        both.stdout,
        /"caller_id":"cli:/,
        'what a command decides beside the service is chained by it',
      );
      const verified = await runProcess(['audit', 'verify'], { cwd });
      assert.equal(verified.code, 0, verified.stdout);

      const second = await runProcess(['serve', '--port', '0'], { cwd });
      assert.equal(second.code, 2);
      assert.match(second.stderr, new RegExp(`process ${service.pid}.*${report.url}`));

      await writeFile(join(cwd, 'service.yaml'), RULE);
      const mail = '{"text":"write to ann@corp-mail.com"}';
      const reloaded = await runProcess(['policy', 'reload', '--json'], { cwd });
      assert.equal(reloaded.code, 0, reloaded.stderr);
      assert.equal(JSON.parse(reloaded.stdout).reloaded, true);
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${report.url}/v1/scan/input`, { method: 'POST', headers, body: mail });
      assert.equal(((await answer.json()) as { rule: string }).rule, 'no-mail');

      await writeFile(join(cwd, 'service.yaml'), `${RULE}serverr: {}\n`);
      const other = join(cwd, 'other.yaml');
      await writeFile(other, `state_dir: ${report.state_dir}\n`);
      const refused = await runProcess(['policy', 'reload', '--config', other], { cwd });
      assert.equal(refused.code, 1, refused.stdout);
      assert.match(refused.stderr, /service\.yaml.*`serverr`/);
    } finally {
      assert.equal(await service.stop('SIGINT'), 0);
    }
    assert.equal(existsSync(join(cwd, '.service/content.sock')), false);
  });
});

test('serve prints its address, the active rules and a command to try', async () => {
  await withFolder(async (cwd) => {
    await writeFile(
      join(cwd, 'service.yaml'),
      'secret_detection: {enabled: false}\nintelligence: {enabled: true, backend: {provider: local, model: m, base_url: "http://up.test"}}\n',
    );
    const service = await startProgram(['serve', '--port', '0'], { cwd, until: 'curl' });
    const report = service.stdout();
    for (const word of ['Address', 'Docs', 'Policy', 'Config', 'Data', 'Access'])
      assert.match(report, new RegExp(`^ {2}${word} +\\S`, 'm'));
    assert.match(report, /your policy answers `allow`/);
    assert.equal(await service.stop('SIGTERM'), 0);
  });
});

test('serve on an address that others reach asks for the agent token, and shows how', async () => {
  await withFolder(async (cwd) => {
    const misspelt = 'policies: [{name: a, boundary: input, data_tags: [secert], action: block}]';
    await writeFile(
      join(cwd, 'service.yaml'),
      `auth: {required: true}\nserver: {mode: gateway}\n${misspelt}\n`,
    );
    const service = await startProgram(['serve', '--port', '0', '--json'], { cwd, until: '\n' });
    const report = JSON.parse(service.stdout()) as StartReport;
    const warned = report.warnings.join('\n');
    assert.match(warned, /^service\.yaml:2: `server\.mode` is `gateway`, so every tool call is blocked/m);
    assert.match(warned, /^service\.yaml:3: .*`secert`.*did you mean `secret`\?$/m);
    assert.equal((await fetch(`${report.url}/v1/plugins`)).status, 401);
    const { stdout } = await exec('sh', ['-c', report.try]);
    assert.equal(JSON.parse(stdout).decision, 'block');
    assert.equal((await runProcess(['token', 'show'], { cwd })).code, 0);
    assert.ok(
      !JSON.stringify(report).includes('svc_agent_'),
      'the report names the token’s place, not the token',
    );
    assert.equal(await service.stop('SIGTERM'), 0);
  });
});

test('serve says why it does not start, and ends with 2', async () => {
  await withFolder(async (cwd) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    const busy = await runProcess(['serve', '--port', String(port)], { cwd });
    taken.close();
    assert.equal(busy.code, 2);
    assert.match(busy.stderr, new RegExp(`${port}`));
    await writeFile(join(cwd, 'service.yaml'), 'server: {prot: 1}\naudit: {enabled: 5}\n');
    const wrong = await runProcess(['serve', '--port', '0', '--json'], { cwd });
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /service\.yaml:1: .*prot/);
    assert.match(wrong.stderr, /service\.yaml:2: .*audit\.enabled/);
    assert.equal(JSON.parse(wrong.stdout).details.length, 2);
    const address = await runProcess(['serve', '--port', '0', '--upstream-base-url', 'nowhere'], {
      cwd: '/',
    });
    assert.equal(address.code, 2);
    assert.match(address.stderr, /--upstream-base-url/);
    const env = { SERVICE_UPSTREAM_BASE_URL: 'nowhere' };
    assert.equal((await runProcess(['serve', '--port', '0'], { cwd: '/', env })).code, 2);
  });
});
