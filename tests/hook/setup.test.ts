/** Runs the commands that `customshouse setup` installs as coding agents do, in a shell, and checks that they block. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { codingAgents } from '../../src/coding-agents/coding-agents.ts';
import { readInstalledHooks } from '../../src/coding-agents/setup/settings-locations.ts';
import { ownNodeEnvironment, root, runProgram } from '../support/checkout.ts';

interface Case {
  readonly name: string;
  readonly stdin: { readonly hook_event_name?: string };
  readonly stdout: object | null;
  readonly code: number;
}

const folder = mkdtempSync(join(tmpdir(), 'setup-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const env = { ...ownNodeEnvironment({ SERVICE_HOOK_DAEMON: 'off' }), HOME: folder };

for (const host of codingAgents)
  test(`the hook that is entered for ${host.label} lets an ordinary command pass and stops a destructive one`, async () => {
    const project = join(folder, `${host.name}'s "own" project`);
    mkdirSync(project);
    copyFileSync(join(root, 'cases/hook/service.yaml'), join(project, 'service.yaml'));
    const service = join(root, 'service');
    const setup = (...words: string[]) =>
      runProgram([service, 'setup', host.name, '--yes', ...words], { cwd: project, env });
    const done = await setup();
    assert.equal(done.code, 0, done.stderr);
    const [target] = host.settings.targets({ project, home: folder, env: {} });
    const hooks = await readInstalledHooks(host.settings, target!);
    const cases = JSON.parse(readFileSync(join(root, 'cases/hook', `${host.name}.json`), 'utf8')) as Case[];
    const [passes, denied] = [
      /ordinary command|an allowed command|a command passes/,
      /destructive command/,
    ].map((pattern) => cases.find(({ name }) => pattern.test(name))!);
    const { command } = hooks.find(({ event }) => event === (passes!.stdin.hook_event_name ?? 'preToolUse'))!;
    const run = (line: string, { stdin }: Case) =>
      spawnSync('/bin/sh', ['-c', line], {
        cwd: folder,
        env,
        input: JSON.stringify(stdin),
        encoding: 'utf8',
      });
    for (const each of [passes!, denied!]) {
      const ran = run(command, each);
      assert.equal(ran.status, each.code, ran.stderr);
      const stdout = ran.stdout.replaceAll(/evt_[0-9a-f]+/g, 'evt_0');
      assert.deepEqual(stdout === '' ? null : JSON.parse(stdout), each.stdout);
    }
    assert.notDeepEqual(passes!.stdout, denied!.stdout);
    // If the program is missing, the exit code blocks where the coding agent supports that.
    const gone = run(command.replace(/\/service(?= hook)/, '/gone'), passes!);
    assert.equal(gone.status, host.settings.guards_exit ? 2 : 127);
    assert.ok(host.settings.guards_exit || hooks.every(({ fails_closed }) => fails_closed));
    const away = await setup('--uninstall');
    assert.equal(away.code, 0, away.stderr);
    assert.deepEqual(readdirSync(project).sort(), ['.service', 'service.yaml']);
  });
