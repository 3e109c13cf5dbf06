import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { listDialects, readCommands } from '../shell/read.ts';
import { judgeScript } from './judge.ts';
import { commandRules } from './rules/index.ts';

function getIds(script: string): readonly string[] {
  return judgeScript(script).matches.map(({ rule }) => rule.id);
}

/**
 * Rules that depend on the position of a command, so that they do not match it elsewhere. In another folder a
 * relative path is another file.
 */
const OF_PLACE =
  /^(?:guard\.configuration|execution\.interactive_shell|execution\.fetched_text|system\.exhaust)$/;

/** The examples of the rules that are one command or pipeline of POSIX shells, with the rules that match. */
const HITS: readonly { readonly script: string; readonly id: string }[] = commandRules
  .filter(({ id }) => !OF_PLACE.test(id))
  .flatMap(({ id, hits }) => hits.map((script) => ({ script, id })))
  .filter(({ script }) => listDialects(script).length === 1 && !/\n/.test(script));
/** Those that are one simple command, so that a wrapper can precede them. */
const SIMPLE = HITS.filter(({ script }) => /^[\w./-]+(?: [\w./:=@,+~-]+)*$/.test(script));

const oneQuoted = (script: string) => `'${script.replaceAll("'", `'\\''`)}'`;

const AROUND_ANY: readonly ((script: string) => string)[] = [
  (script) => `bash -c ${oneQuoted(script)}`,
  (script) => `sh -ec ${oneQuoted(script)}`,
  (script) => `eval ${oneQuoted(script)}`,
  (script) => `ssh host ${oneQuoted(script)}`,
  (script) => `sudo bash -c ${oneQuoted(script)}`,
  (script) => `docker exec web sh -c ${oneQuoted(script)}`,
  (script) => `xargs -I@ sh -c ${oneQuoted(script)}`,
  (script) => `watch -n 5 ${oneQuoted(script)}`,
  (script) => `bash <<'END'\n${script}\nEND`,
  (script) => `bash <<< ${oneQuoted(script)}`,
  (script) => `cd src && ${script}`,
  (script) => `true; ${script} ; ls`,
  (script) => `(${script}\n)`,
  (script) => `{ ${script}\n}`,
  (script) => `if true; then ${script}\nfi`,
  (script) => `for i in 1 2; do ${script}\ndone`,
  (script) => `case a in a) ${script}\n;; esac`,
  (script) => `f() { ${script}\n}; f`,
  (script) => `x=$(${script}\n)`,
  (script) => `echo "$(${script}\n)"`,
  (script) => `[ -f a ] && ${script}`,
  (script) => `# it's a comment\n${script} # and another`,
];
const AROUND_SIMPLE: readonly ((script: string) => string)[] = [
  (script) => `sudo ${script}`,
  (script) => `sudo -u ada -- ${script}`,
  (script) => `env A=1 ${script}`,
  (script) => `A=1 ${script}`,
  (script) => `nohup ${script} &`,
  (script) => `timeout -k 5 10 ${script}`,
  (script) => `nice -n 5 ${script}`,
  (script) => `time ${script}`,
  (script) => `command ${script}`,
  (script) => `exec ${script}`,
  (script) => `ls | xargs ${script}`,
  (script) => `find . -exec ${script} \\;`,
  (script) => script.replaceAll(' ', ' \\\n  '),
  (script) => script.replaceAll(' ', '\t'),
];
const AS_WORDS: readonly ((word: string) => string)[] = [
  (word) => `'${word}'`,
  (word) => `"${word}"`,
  (word) => `\\${word}`,
  (word) => `${word[0]}""${word.slice(1)}`,
  (word) => `${word.slice(0, -1)}'${word.slice(-1)}'`,
  (word) => `$'${word}'`,
];
const ONLY_QUOTED: readonly ((script: string) => string)[] = [
  (script) => `echo ${oneQuoted(script)}`,
  (script) => `printf '%s\\n' ${oneQuoted(script)}`,
  (script) => `git commit -m ${oneQuoted(script)}`,
  (script) => `grep -rn ${oneQuoted(script)} src`,
  (script) => `gh issue create --title ${oneQuoted(script)}`,
  (script) => `# ${script}`,
  (script) => `ls # ${script}`,
  (script) => `cat > notes.txt <<'END'\n${script}\nEND`,
  (script) => `test "$a" = ${oneQuoted(script)}`,
];

test('text around a command does not hide it', () => {
  const lost: string[] = [];
  let count = 0;
  const look = (id: string, script: string) => {
    count += 1;
    if (!getIds(script).includes(id)) lost.push(`${id}: ${script}`);
  };
  for (const { script, id } of HITS) for (const around of AROUND_ANY) look(id, around(script));
  for (const { script, id } of SIMPLE) for (const around of AROUND_SIMPLE) look(id, around(script));
  assert.deepEqual(lost, []);
  assert.ok(
    HITS.length > 300 && SIMPLE.length > 150 && count > 8000,
    `${HITS.length} ${SIMPLE.length} ${count}`,
  );
});

test('how the name of a program is quoted changes nothing', () => {
  const changed: string[] = [];
  for (const { script } of SIMPLE) {
    const [name, ...rest] = script.split(' ');
    for (const as of AS_WORDS) {
      const written = [as(name!), ...rest].join(' ');
      if (getIds(written).join() !== getIds(script).join()) changed.push(written);
    }
  }
  assert.deepEqual(changed, []);
});

test('what is only printed, searched for, committed or remarked is not found', () => {
  const found: string[] = [];
  for (const { script } of HITS)
    for (const quoting of ONLY_QUOTED)
      if (getIds(quoting(script)).length > 0) found.push(`${quoting(script)}: ${getIds(quoting(script))}`);
  assert.deepEqual(found, []);
});

test('wrappers in wrappers do not hide a command', () => {
  let runs = 0;
  const hit = fc.constantFrom(...SIMPLE);
  const wrappers = fc.array(fc.constantFrom(...AROUND_ANY), { minLength: 2, maxLength: 3 });
  fc.assert(
    fc.property(hit, fc.constantFrom(...AROUND_SIMPLE), wrappers, ({ script, id }, simple, around) => {
      runs += 1;
      const written = around.reduce((inner, wrap) => wrap(inner), simple(script));
      assert.ok(getIds(written).includes(id), `${id}: ${written}`);
    }),
    { numRuns: 500 },
  );
  assert.ok(runs >= 500);
});

test('any text is read: nothing is thrown, and every span lies in it', () => {
  let commands = 0;
  const pieces = fc.constantFrom(
    ...' ;|&()<>$`"\'\\{}#\n=*[]!~-^@%',
    '$(',
    '${',
    '<<',
    'rm',
    'case',
    ' in ',
    'esac',
    '[[',
    'E\n',
    'C:\\',
    'é',
    '\ud83d',
    '\0',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 60 }).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, fc.constantFrom('posix', 'windows'), (script, dialect) => {
      const reading = readCommands(script, { offset: 7, dialect: dialect as 'posix' | 'windows' });
      for (const { start, end } of reading.commands) {
        commands += 1;
        assert.ok(
          7 <= start && start < end && end <= 7 + script.length,
          `${start}-${end} of ${script.length}`,
        );
      }
      judgeScript(script);
    }),
    { numRuns: 3000 },
  );
  assert.ok(commands > 3000, `${commands} commands`);
});
