import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { MAIN_FILE } from '../src/entry/cli/testing/main-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'operator-only-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const SERVICE = `'${process.execPath}' '${MAIN_FILE}'`;
const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;

interface OperatorRun {
  readonly code: number;
  readonly stderr: string;
}

async function shell(
  program: string,
  script: string,
  env: Readonly<Record<string, string>> = {},
): Promise<OperatorRun> {
  const options = { cwd: folder, env: { PATH, HOME, NODE_COMPILE_CACHE, ...env } };
  try {
    const { stderr } = await promisify(execFile)(program, ['-c', script], options);
    return { code: 0, stderr };
  } catch (failure) {
    const { code, stderr } = failure as { readonly code: number; readonly stderr: string };
    return { code, stderr };
  }
}

/** Starts a shell whose process has the name of a coding agent. */
function agentShell(): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const path = join(bin, 'claude');
  if (!existsSync(path))
    execFileSync('cp', [execFileSync('readlink', ['-f', '/bin/sh'], { encoding: 'utf8' }).trim(), path]);
  return path;
}

/** Another command follows each command, so that the shell stays the parent. */
const DECIDING = [
  'approvals approve apr_0123456789abcdef01234567',
  'approvals deny apr_0123456789abcdef01234567',
  'token show operator',
  'token rotate operator',
  'setup claude-code --uninstall --yes',
  'skills remove coding-agent --yes',
  'sessions reset s1',
  'plugins trust --yes',
  'intelligence recommend --apply --yes',
  'intelligence undo',
];

test('below a coding agent no decision can be made by the command line', async () => {
  const claude = agentShell();
  for (const words of DECIDING) {
    const { code, stderr } = await shell(claude, `${SERVICE} ${words}; exit $?`);
    assert.equal(code, 1, `${words}: ${stderr}`);
    assert.match(stderr, /is for an operator, and the coding agent `claude` \(process \d+\) started/, words);
    assert.match(stderr, /terminal that you opened yourself/);
  }
  const listed = await shell(claude, `${SERVICE} policy lint; exit $?`);
  assert.doesNotMatch(listed.stderr, /for an operator/);
  assert.equal(DECIDING.length, 10);
});

test('a variable of an agent, a terminal that an agent opened and a process cut loose are no operator', async () => {
  const marked = await shell('/bin/sh', `${SERVICE} token show operator; exit $?`, { CLAUDECODE: '1' });
  assert.match(marked.stderr, /`CLAUDECODE` says that a coding agent started/);
  const out = join(folder, 'out.txt');
  await shell(
    '/bin/sh',
    `(setsid sh -c "sleep 0.2; ${SERVICE} token show operator > '${out}.1' 2>&1; mv '${out}.1' '${out}'" &)`,
  );
  for (let times = 0; times < 200 && !existsSync(out); times++) await sleep(100);
  assert.match(readFileSync(out, 'utf8'), /no terminal and no parent/);
  const script = join(folder, 'typed.sh');
  writeFileSync(script, `${SERVICE} token show operator\n`);
  const typed = await shell(agentShell(), `script -qec "sh '${script}'" /dev/null > '${out}.2' 2>&1; exit 0`);
  assert.equal(typed.code, 0);
  assert.match(readFileSync(`${out}.2`, 'utf8'), /the coding agent `claude`/);
});

test('an operator decides: without an agent above, the same command is answered', async () => {
  const { code, stderr } = await shell('/bin/sh', `${SERVICE} token show operator; exit $?`);
  assert.equal(code, 1);
  assert.match(stderr, /There is no operator token yet/);
});
