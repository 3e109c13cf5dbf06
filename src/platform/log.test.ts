import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const module = JSON.stringify(new URL('log.ts', import.meta.url).href);

function writeLine(format: string | undefined): string {
  const options = JSON.stringify({ level: 'info', name: 'test', format });
  const program = `const { openLog } = await import(${module});
    const log = openLog(${options}); log.info('hello', { count: 3 }); log.debug('too little'); await log.flush();`;
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stderr;
}

test('the log is JSON or text as its format says, and JSON without a terminal', () => {
  for (const format of [undefined, 'auto', 'json']) {
    const { level, msg, count, name } = JSON.parse(writeLine(format));
    assert.deepEqual([level, msg, count, name], ['info', 'hello', 3, 'test'], format);
  }
  assert.match(writeLine('text'), /^\d\d:\d\d:\d\d info {2}hello \(count 3\)\n$/);
});
