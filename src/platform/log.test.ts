import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { listHostileNames } from '../core/testing/hostile-characters.ts';

const module = JSON.stringify(new URL('log.ts', import.meta.url).href);

function writeLine(format: string | undefined, message = 'hello', fields: object = { count: 3 }): string {
  const options = JSON.stringify({ level: 'info', name: 'test', format });
  const program = `const { openLog } = await import(${module});
    const log = openLog(${options}); log.info(${JSON.stringify(message)}, ${JSON.stringify(fields)}); log.debug('too little'); await log.flush();`;
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

test('no value forges a line or a field of the text log', () => {
  const names = listHostileNames();
  const fields = Object.fromEntries(names.map((name, at) => [`f${at}`, name]));
  const line = writeLine('text', 'read\u001b[2J', { ...fields, list: ['a\nb'] });
  assert.doesNotMatch(line.slice(0, -1), /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u);
  assert.match(line, /^\d\d:\d\d:\d\d info {2}read\\u001b\[2J \(f0 "/);
  // A value is a plain word or a JSON string, so the line has one reading.
  const read = [...line.matchAll(/[( ](f\d+) (?:"((?:\\.|[^"\\])*)"|([\w./:@+-]+))(?=, |\))/g)];
  assert.equal(read.length, names.length);
  for (const [at, [, key, quoted, plain]] of read.entries())
    assert.deepEqual([key, plain ?? JSON.parse(`"${quoted}"`)], [`f${at}`, names[at]]);
});
