// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { interpolateText } from './interpolate.ts';

const env = { PORT: '8001', EMPTY: '', EVIL: '${PORT}: [x]\n${', _a1: 'y' };

const filled: readonly (readonly [string, string, whole: boolean, literal: string])[] = [
  ['', '', false, ''],
  ['plain $ text } with {braces}', 'plain $ text } with {braces}', false, 'plain $ text } with {braces}'],
  ['${PORT}', '8001', true, ''],
  [' ${PORT}', ' 8001', false, ' '],
  ['${PORT}${PORT}', '80018001', false, ''],
  ['a${PORT}b${_a1}c', 'a8001byc', false, 'abc'],
  ['${EMPTY}', '', true, ''],
  ['$${PORT}', '${PORT}', false, '${PORT}'],
  ['$$${PORT}', '$${PORT}', false, '$${PORT}'],
  ['$${', '${', false, '${'],
  ['${EVIL}', '${PORT}: [x]\n${', true, ''],
  ['$PORT', '$PORT', false, '$PORT'],
];

test('references are replaced once, and only as written', () => {
  for (const [text, expected, whole, literal] of filled) {
    const result = interpolateText(text, { env, secrets: new Map() });
    assert.ok(result.ok, text);
    assert.deepEqual([result.text, result.whole, result.literal], [expected, whole, literal], text);
  }
  assert.equal(filled.length, 12);
});

const refused: readonly (readonly [string, RegExp])[] = [
  ['${NOPE}', /`NOPE`, which is not set$/],
  ['${PORT', /not closed/],
  ['${}', /names no environment variable/],
  ['${PORT:-1}', /names no environment variable/],
  ['${1A}', /names no environment variable/],
  ['${ PORT }', /names no environment variable/],
  ['${secret:db}', /asks for a secret, which is not available/],
  ['${toString}', /`toString`, which is not set$/],
  ['${__proto__}', /`__proto__`, which is not set$/],
  ['ok ${PORT} ${NOPE}', /`NOPE`/],
];

test('an unresolved reference is reported, without quoting an invalid name', () => {
  for (const [text, expected] of refused) {
    const result = interpolateText(text, { env, secrets: new Map() });
    assert.ok(!result.ok, text);
    assert.match(result.message, expected);
  }
  assert.equal(refused.length, 10);
});

test('a file that a variable names holds the value', () => {
  const dir = mkdtempSync(join(tmpdir(), 'interpolate-'));
  try {
    const write = (name: string, text: string) => {
      writeFileSync(join(dir, name), text);
      return join(dir, name);
    };
    const files = {
      KEY_FILE: write('key', 'k-1\n'),
      LINES_FILE: write('lines', 'a\nb\r\n'),
      BARE_FILE: write('bare', ' ${PORT} '),
      BOTH: 'variable',
      BOTH_FILE: write('both', 'file'),
      LONG_FILE: write('long', 'x'.repeat(65_537)),
      GONE_FILE: join(dir, 'gone'),
      FOLDER_FILE: dir,
      RELATIVE_FILE: 'key',
    };
    const read = (name: string) => interpolateText(`\${${name}}`, { env: files, secrets: new Map() });
    const texts = ['KEY', 'LINES', 'BARE', 'BOTH', 'KEY_FILE'].map((name) => {
      const result = read(name);
      return result.ok ? result.text : result.message;
    });
    assert.deepEqual(texts, ['k-1', 'a\nb', ' ${PORT} ', 'variable', join(dir, 'key')]);
    for (const [name, why] of [
      ['LONG', /has more than 65536 bytes$/],
      ['GONE', /`GONE_FILE` names cannot be read \(ENOENT\)$/],
      ['FOLDER', /is no file$/],
      ['RELATIVE', /has no absolute path$/],
    ] as const) {
      const result = read(name);
      assert.ok(!result.ok, name);
      assert.match(result.message, why);
      assert.ok(!result.message.includes(dir));
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('any value is inserted unchanged, whatever surrounds it', () => {
  const around = fc.string().filter((text) => !text.includes('${') && !text.endsWith('$'));
  fc.assert(
    fc.property(around, fc.string(), around, (before, value, after) => {
      const result = interpolateText(`${before}\${V}${after}`, { env: { V: value }, secrets: new Map() });
      assert.ok(result.ok);
      assert.equal(result.text, before + value + after);
      assert.equal(result.literal, before + after);
      assert.equal(result.whole, before === '' && after === '');
    }),
  );
});

test('text without `${` is never changed, and escaping brings any text back', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('$', '{', '}', 'a', '${', 'A}')), (pieces) => {
      const text = pieces.join('').replace(/\$+\{/g, () => '${');
      const result = interpolateText(
        text.replaceAll('${', () => '$${'),
        { env: {}, secrets: new Map() },
      );
      assert.ok(result.ok, text);
      assert.equal(result.text, text);
    }),
  );
});
