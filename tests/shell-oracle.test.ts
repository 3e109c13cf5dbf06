import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as fc from 'fast-check';
import { loadOracle, machineScripts, type Oracle } from './support/oracle.ts';

let oracle: Oracle;
before(async () => {
  oracle = await loadOracle();
});

/**
 * Maximum share of differences between the two parsers, because the grammar has faults of its own (`echo >&2 a`, `then`
 * as a command).
 */
const DIFFERENCES_MAX = 0.01;
const MISSING_MAX = 0.0025;
const FILES_MIN = 50;
const FILES_MAX = 300;

test("our reader sees the commands of the system's scripts that the grammar sees", (t) => {
  const scripts = machineScripts(FILES_MAX);
  if (scripts.length < FILES_MIN) {
    t.skip(`this machine has ${scripts.length} shell scripts below /etc and /usr`);
    return;
  }
  const read = scripts.flatMap(({ text }) => oracle(text) ?? []);
  const commands = read.reduce((sum, each) => sum + each.commands, 0);
  const differences = read.flatMap((each) => each.differences);
  const missing = differences.filter(({ kind }) => kind === 'missing');
  assert.ok(read.length > scripts.length / 2, `the grammar reads ${read.length} of ${scripts.length}`);
  assert.ok(missing.length <= MISSING_MAX * commands, `${missing.length} of ${commands} are missing`);
  assert.ok(
    differences.length <= DIFFERENCES_MAX * commands,
    `${differences.length} of ${commands} are read in another way`,
  );
});

const letters = fc.stringMatching(/^[a-z]{1,6}$/);
const inQuotes = fc.stringMatching(/^[a-z ;|&>#()-]{1,8}$/);
const part = fc.oneof(
  letters,
  inQuotes.map((text) => `'${text}'`),
  inQuotes.map((text) => `"${text}"`),
  letters.map((text) => `-${text}`),
);
const word = fc.oneof(
  fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
  letters.map((text) => `\\${text}`),
);
const name = letters.filter(
  (text) => !/^(?:if|fi|do|done|in|for|case|esac|then|else|elif|while|until)$/.test(text),
);
const simple = fc
  .tuple(name, fc.array(word, { maxLength: 4 }))
  .map(([first, words]) => [`x${first}`, ...words].join(' '));

const script = fc.letrec<{ line: string; list: string }>((tie) => ({
  list: fc.array(tie('line'), { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n')),
  line: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    simple,
    fc
      .tuple(simple, fc.constantFrom(' | ', ' && ', ' || ', '; ', ' |\\\n'), simple)
      .map((all) => all.join('')),
    tie('list').map((list) => `(${list}\n)`),
    tie('list').map((list) => `{ ${list}\n}`),
    fc.tuple(simple, tie('list')).map(([first, list]) => `${first} $(${list}\n) "$(${list}\n)"`),
    fc.tuple(simple, tie('list')).map(([test, list]) => `if ${test}; then\n${list}\nfi`),
    fc.tuple(letters, word, tie('list')).map(([as, of, list]) => `for v${as} in ${of}; do\n${list}\ndone`),
    fc.tuple(word, letters, tie('list')).map(([of, as, list]) => `case ${of} in ${as}|*) ${list}\n;; esac`),
    fc.tuple(name, tie('list')).map(([as, list]) => `f${as}() {\n${list}\n}`),
    fc.tuple(simple, inQuotes).map(([first, body]) => `${first} <<'END'\n${body}\nEND`),
    fc.tuple(simple, tie('line')).map(([first, line]) => `${first} # it's ${line.split('\n')[0]}`),
    fc.tuple(simple, letters).map(([first, file]) => `${first} > ${file} 2>&1`),
  ),
})).list;

test('generated scripts are read as the grammar reads them', () => {
  let commands = 0;
  fc.assert(
    fc.property(script, (text) => {
      const compared = oracle(text);
      if (compared === null) return;
      commands += compared.commands;
      assert.deepEqual(compared.differences, [], text);
    }),
    { numRuns: 1500 },
  );
  assert.ok(commands > 3000, `${commands} commands`);
});

test('the comparison shows a difference where there is one', () => {
  const compared = oracle('echo >&2 a; [ -f x ] && rm b')!;
  assert.deepEqual(compared, { commands: 2, differences: [] });
  assert.equal(oracle('if then'), null);
  const kinds = oracle('eval "set --" \\$a; a=(b c)')!.differences.map(({ kind }) => kind);
  assert.deepEqual(kinds, []);
});
