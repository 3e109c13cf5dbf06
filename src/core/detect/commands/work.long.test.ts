import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { getStepsTaken } from '../../steps.ts';
import { SHELL_LIMITS } from '../shell/syntax.ts';
import { judgeScript } from './judge.ts';

/** Pieces that open, nest, repeat or refer. A hostile script repeats some of them. */
const PIECES: readonly string[] =
  "$(¦`¦\"¦'¦(¦((¦a|¦sudo ¦<<A\n¦$¦{$¦{a$¦\\¦$((¦$'¦x=$x$x;¦bash -c \"¦xargs ¦<(¦env -S ¦echo a |¦echo a | sh;¦{¦}¦:(){ :|:& };:¦find -exec ¦find . -exec rm {} \\; ¦eval ¦ssh h ¦cat <<A <<B <<C\n¦cat <<A;¦EOF\n¦A\n¦a$IFS¦> b ¦f() { a; }\n¦nohup ¦-exec sh \\; ¦-exec nc \\; ¦-exec psql \\; ¦$x¦a=b ¦{} ¦xargs -I{} rm ¦case a in ¦a) b;;¦;;[¦alias a=\"b\";¦trap 'a' EXIT;¦python3 -c \"¦os.system('a');¦`a` ¦C:\\a ¦Get-Item ¦powershell -c ¦cmd /c ¦$a = 1;¦../¦/¦.ssh/id_¦socket¦delete ¦/*¦drop ¦secret¦\n¦;¦|¦)¦ ".split(
    '¦',
  );

/** Builders of hostile scripts of a given length in units. */
const SHAPES: Readonly<Record<string, (units: number) => string>> = {
  'here-documents with open substitutions': (units) => 'cat <<A\n$(\nA\n'.repeat(units / 13),
  'open and closed substitutions': (units) => '$('.repeat(units / 3) + ')'.repeat(units / 3),
  'one long value filled in often': (units) =>
    `echo ${'b'.repeat(units / 2)} | xargs -I{} rm ${'{}{}{}{}{}{}{}{} '.repeat(units / 34)}`,
  'one long variable filled in often': (units) => `x=${'a'.repeat(250)};${'echo $x;'.repeat(units / 8)}`,
  'one long input for many shells': (units) =>
    `echo ${'b '.repeat(units / 4)} | find ${'-exec sh \\; '.repeat(units / 26)}`,
  'one long input for many senders': (units) =>
    `cat ${'b '.repeat(units / 4)} | find ${'-exec nc \\; '.repeat(units / 26)}`,
  'many redirections of many commands': (units) =>
    `find ${'-exec a \\; '.repeat(units / 22)}${'> b '.repeat(units / 8)}`,
  'shells in shells': (units) =>
    [1, 2, 3, 4].reduce(
      (script) => `bash -c '${script.replaceAll("'", `'\\''`)}'`,
      `rm ${'a '.repeat(units / 40)}`,
    ),
  'wrappers around a long command': (units) => `${'nohup '.repeat(9)}rm ${'a '.repeat(units / 2 - 27)}`,
  'wrappers around many commands': (units) => `${'sudo '.repeat(9)}a;`.repeat(units / 48),
  'the shortest commands': (units) => 'a;'.repeat(units / 2),
  'one word': (units) => 'a'.repeat(units),
  'searches in searches': (units) => 'find . -exec '.repeat(units / 13),
  'braces and stars': (units) => `rm ${'{a,b}*'.repeat(units / 6)}`,
  'globs of stars': (units) => `cat ${`${'*a'.repeat(400)} `.repeat(units / 801)}`,
  'wrappers with assignments': (units) => 'env A=1 '.repeat(units / 8),
  'folders in folders': (units) => 'cd a && '.repeat(units / 8),
};

const ORDINARY = `#!/bin/sh
set -e
cd "$(dirname "$0")/.."
for file in src/*.ts; do
  if [ -f "$file" ]; then
    wc -l "$file" | awk '{ print $1 }' >> build/lines.txt
  fi
done
npm run build -- --mode production && tar czf build/site.tgz dist
git add build && git commit -m "Build the site" || echo 'nothing to commit'
curl -fsS https://example.test/health | jq -r .status > build/status.txt
`;

const RUNS = process.env.NIGHTLY === undefined ? 6 : 100;

function repeatPiece(piece: string, units: number): string {
  return piece.repeat(Math.ceil(units / piece.length)).slice(0, units);
}

function getWork(text: string): number {
  const before = getStepsTaken();
  judgeScript(text);
  return getStepsTaken() - before;
}

test('twice the script is at most 2.2 times the work, whatever it is made of', () => {
  let runs = 0;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 5 }), (pieces) => {
      runs += 1;
      const piece = pieces.join('');
      // An even, whole number of pieces, so that opened constructs are closed in both.
      const times = 2 * Math.ceil(2048 / piece.length);
      const [once, twice] = [times, 2 * times].map((count) => getWork(piece.repeat(count)));
      assert.ok(twice! <= 2.2 * once!, `${JSON.stringify(pieces)}: ${once} and ${twice} units of work`);
    }),
    // A fixed seed, so that every run tests the same scripts. Another seed tests others.
    { numRuns: RUNS, seed: 2026 },
  );
  assert.ok(runs >= RUNS);
});

test('no script takes more than 8 times the work of an ordinary one as long', () => {
  const units = process.env.NIGHTLY === undefined ? 16_384 : 32_768;
  const ordinary = getWork(repeatPiece(ORDINARY, units));
  const made = Object.entries(SHAPES).map(([name, make]) => [name, make(units)] as const);
  const scripts = [...PIECES.map((piece) => [piece, repeatPiece(piece, units)] as const), ...made];
  for (const [name, text] of scripts) {
    const least = text.length / 2;
    const work = getWork(text);
    assert.ok(work >= least, `${name}: ${work} units of work for ${text.length} units cannot be all`);
    assert.ok(work <= 8 * ordinary, `${name}: ${(work / ordinary).toFixed(1)} times the work`);
  }
  assert.equal(scripts.length, PIECES.length + 17);
  assert.ok(PIECES.length > 60, `${PIECES.length} pieces`);
});

test('an ordinary script is read and judged to its end, however long it may be', () => {
  const { is_cut, matches } = judgeScript(repeatPiece(ORDINARY, SHELL_LIMITS.script_units_max));
  assert.equal(is_cut, false);
  assert.deepEqual(matches, []);
});

/** Long scripts of daily work. */
const LONG_SCRIPTS: Readonly<Record<string, string>> = {
  'a makefile recipe': `make -f - <<'END'\nall:\n${'\tgcc -O2 -c src/a.c -o build/a.o && rm -f build/*.tmp\n'.repeat(900)}END`,
  'a script in a here-document': `bash <<'END'\n${repeatPiece(ORDINARY, 60_000)}\nEND`,
  'searches three deep': `find . -exec find {} -name a -exec find {} -name b -exec cat {} \\; \\; \\;`,
  'statements with &&': Array.from({ length: 2000 }, (_, at) => `mkdir -p build/${at}`).join(' && '),
  'statements in folders': 'cd packages && npm test && cd .. && '.repeat(500),
};

test('long scripts of daily work are read to their end', () => {
  for (const [name, script] of Object.entries(LONG_SCRIPTS))
    assert.equal(judgeScript(script).is_cut, false, name);
  assert.equal(Object.keys(LONG_SCRIPTS).length, 5);
});

test('a script that nests too deep is reported as cut', () => {
  for (const name of ['one long value filled in often', 'one long variable filled in often'])
    assert.equal(judgeScript(SHAPES[name]!(65_536)).is_cut, true, name);
});
