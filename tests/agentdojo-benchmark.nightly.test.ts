/** The AgentDojo benchmark on a few pairs: attacks succeed without a guard, and rules written for the tools stop some. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, runProgram } from './support/checkout.ts';

test('written and drafted rules stop attacks that succeed unguarded', async () => {
  const program = join(root, 'benchmarks', 'agentdojo', 'run.ts');
  const options = ['--rows', 'nothing,tags,draft', '--suites', 'slack', '--every', '21', '--json'];
  const ran = await runProgram([process.execPath, program, ...options]);
  assert.equal(ran.code, 0, ran.stderr);
  const [nothing, tags, draft] = ran.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual([nothing.pairs, nothing.attacks, nothing.finished], [5, 5, 21]);
  assert.ok(tags.attacks < nothing.attacks, JSON.stringify(tags));
  assert.ok(draft.attacks === 0 && draft.finished > 0, JSON.stringify(draft));
  assert.ok(tags.clean.calls > 0, 'the rules also stop calls of honest tasks');
});
