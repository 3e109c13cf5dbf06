import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listDialects, readCommands } from './read.ts';

/** Each command as its name and words, `|` after what feeds a pipe. */
function read(text: string): readonly string[] {
  return readCommands(text, { dialect: listDialects(text)[0]! }).commands.map(
    ({ name, words, feeds_pipe }) =>
      [name, ...words.map((word) => word.text)].join(' ') + (feeds_pipe ? ' |' : ''),
  );
}

/** A script, and the commands in it that nothing else wraps. */
const SCRIPTS: readonly (readonly [script: string, ...commands: string[]])[] = [
  ['a b; c && d || e & f\ng', 'a b', 'c', 'd', 'e', 'f', 'g'],
  ['a | b |& c', 'a |', 'b |', 'c'],
  [`r\\m "a b" 'c d' e\\ f`, 'rm a b c d e f'],
  [`c""at e''nv`, 'cat env'],
  ["echo $'\\x72\\155'", 'echo rm'],
  ['# rm -rf /\nls # rm', 'ls'],
  ['x=rm; $x -rf /', '', 'rm -rf /'],
  ['cat$IFS/etc/shadow', 'cat /etc/shadow'],
  ['$(echo cat) a', 'cat a', 'echo cat'],
  ['echo $(rm a) `rm b` "$(rm c)"', 'echo $() $() $()', 'rm a', 'rm b', 'rm c'],
  [`echo '$(rm a)'`, 'echo $(rm a)'],
  ['echo $((1 + $(rm a)))', 'echo 0', 'rm a'],
  ['cat <<EOF\nrm a\nEOF\nls', 'cat', 'ls'],
  ['cat <<EOF\n$(rm a)\nEOF', 'cat', 'rm a'],
  [`cat <<'EOF'\n$(rm a)\nEOF`, 'cat'],
  ['bash <<EOF\nrm a\nEOF', 'bash', 'rm a'],
  [`bash <<< 'rm a'`, 'bash', 'rm a'],
  [
    'sudo -u root env A=1 nice -n 5 rm a',
    'sudo -u root env A=1 nice -n 5 rm a',
    'env A=1 nice -n 5 rm a',
    'nice -n 5 rm a',
    'rm a',
  ],
  [`bash -lc 'rm a'`, 'bash -lc rm a', 'rm a'],
  [`bash -- -c 'rm a'`, 'bash -- -c rm a'],
  ['echo a | xargs rm', 'echo a |', 'xargs rm', 'rm a'],
  ['parallel rm {} ::: a', 'parallel rm {} ::: a', 'rm a'],
  ['find . -exec rm {} \\;', 'find . -exec rm {} ;', 'rm ./**'],
  [`ssh host 'rm a'`, 'ssh host rm a', 'rm a'],
  ['command -v rm', 'command -v rm'],
  ['if a; then b; else c; fi', 'a', 'b', 'c'],
  ['while a; do b; done', 'a', 'b'],
  ['(a; b) | c', 'a', 'b |', 'c'],
  ['{ a; b; }', 'a', 'b'],
  ['a > b 2>&1 < c', 'a'],
  ['a <(rm b)', 'a <()', 'rm b'],
  ['rm \\\n a', 'rm a'],
  [`eval 'rm a'`, 'eval rm a', 'rm a'],
  ['cmd /c del C:\\a', 'cmd /c del C:\\a', 'del C:\\a'],
  ['Get-Item C:\\a | Remove-Item', 'get-item C:\\a |', 'remove-item'],
  [`python3 -c "import os; os.system('rm a')"`, "python3 -c import os; os.system('rm a')", 'python3', 'rm a'],
  ['case $x in a|b) rm a ;; (c) ;; esac; rm b', 'case $x in', 'rm a', 'rm b'],
  ['echo "$(case a in a) rm b;; esac)"; rm c', 'echo $()', 'rm c', 'case a in', 'rm b'],
  [`git commit -m "$(cat <<'E'\nit's :)\nE\n)"; rm a`, "git commit -m it's :)", 'rm a', 'cat'],
  [`echo $${'{a:+$(rm b)}'} $${'{c:-"d"}'}`, 'echo $a d', 'rm b'],
  ['[[ a =~ (b|c) && d > e ]] && rm a', '[[ a =~ b c d e ]]', 'rm a'],
  ["x='rm -rf /'; $x", '', 'rm -rf /'],
  [`a=(rm -rf /); "$${'{a[@]}'}"`, '', 'rm -rf /'],
  ['function f { rm a; }; f', 'rm a', 'f'],
  ['{rm,-f,a}', 'rm -f a'],
  ["alias x='rm -f'; x a", 'alias x=rm -f', 'rm -f a', 'rm -f'],
  ['cat <<E | bash\nrm a\nE', 'cat |', 'bash', 'rm a'],
  ["script -qc 'rm a' b", 'script -qc rm a b', 'rm a'],
  ['a | \\\n  b', 'a |', 'b'],
  ['a "unterminated', 'a unterminated'],
  ['echo $(rm a', 'echo $()', 'rm a'],
];

test('scripts are read into the commands that they run', () => {
  for (const [script, ...commands] of SCRIPTS) assert.deepEqual(read(script), commands, script);
  assert.equal(SCRIPTS.length, 51);
});

test('spans count in the text that was given', () => {
  const text = 'ls; echo $(rm -rf /x)';
  const { commands } = readCommands(text, { offset: 100 });
  assert.deepEqual(
    commands.map(({ start, end }) => text.slice(start - 100, end - 100)),
    ['ls', 'echo $(rm -rf /x)', 'rm -rf /x'],
  );
});

test('a command behind more wrappers than are read is not passed over in silence', () => {
  const behind = (wrappers: number) => readCommands(`${'nohup '.repeat(wrappers)}rm -rf /`);
  assert.ok(behind(10).commands.some(({ name }) => name === 'rm'));
  assert.equal(behind(10).is_cut, false);
  assert.equal(behind(11).is_cut, true);
});

test('a redirection before parentheses makes no function, and no span before the text', () => {
  for (const { start } of readCommands('@<<()', { offset: 7 }).commands) assert.ok(start >= 7, `${start}`);
  assert.deepEqual(
    readCommands('f() { rm -rf /; }; f').commands.map(({ name }) => name),
    ['rm', 'f'],
  );
});
