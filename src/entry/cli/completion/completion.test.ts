import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { runProcess, withFolder } from '../testing/run.ts';

const exec = promisify(execFile);

/** Returns the words that bash offers after Tab. */
async function completeWords(script: string, words: readonly string[], cwd: string): Promise<string[]> {
  const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const ask = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _customshouse_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await exec('bash', ['-c', `${script}\n${ask}`], { cwd });
  return stdout.split('\n').filter((line) => line !== '');
}

const CASES: readonly { words: readonly string[]; has: readonly string[]; lacks?: readonly string[] }[] = [
  { words: ['service', ''], has: ['serve', 'scan', 'logs', 'audit', '--version'], lacks: ['verify'] },
  { words: ['service', 'va'], has: ['validate'], lacks: ['serve'] },
  { words: ['service', 'audit', ''], has: ['verify'], lacks: ['serve'] },
  { words: ['service', 'audit', 'verify', '--'], has: ['--dir', '--json'], lacks: ['--mode'] },
  { words: ['service', 'serve', '--mode', ''], has: ['sidecar', 'gateway'], lacks: ['--port'] },
  { words: ['service', 'serve', '--mode', '=', 'side'], has: ['sidecar'], lacks: ['gateway'] },
  { words: ['service', 'completion', ''], has: ['bash', 'zsh', 'fish'] },
  { words: ['service', 'scan', '--file', ''], has: [], lacks: ['--json'] },
  { words: ['service', 'scan', '--json', '--b'], has: ['--boundary'] },
];

test('the bash script completes commands, options and values, and runs nothing that was typed', async () => {
  await withFolder(async (cwd) => {
    const { stdout: script, code } = await runProcess(['completion', 'bash'], { cwd });
    assert.equal(code, 0);
    await exec('bash', ['-n', '-c', script]);
    for (const { words, has, lacks = [] } of CASES) {
      const found = await completeWords(script, words, cwd);
      for (const word of has)
        assert.ok(found.includes(word), `${words.join(' ')} does not offer ${word}: ${found}`);
      for (const word of lacks) assert.ok(!found.includes(word), `${words.join(' ')} offers ${word}`);
    }
    await completeWords(script, ['service', 'scan', '$(touch one)', '`touch two`', '--$(touch three)'], cwd);
    for (const name of ['one', 'two', 'three']) assert.equal(existsSync(join(cwd, name)), false, name);
  });
});

test('the scripts for zsh and fish hold every command', async () => {
  await withFolder(async (cwd) => {
    for (const shell of ['zsh', 'fish']) {
      const { stdout, code } = await runProcess(['completion', shell], { cwd });
      assert.equal(code, 0);
      for (const word of ['serve', 'verify', 'evaluate', 'auto-config', 'sidecar']) {
        assert.ok(stdout.includes(word), `${shell} lacks ${word}`);
      }
    }
  });
});
