import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listHiddenCharacters, listHostileNames } from '../../core/testing/hostile-characters.ts';
import { formatTable } from './format-table.ts';
import { escapeControls, escapeControlsInLines } from './terminal.ts';

/** Splits a line into cells as a reader does: columns have two spaces between them, a quoted cell is one. */
function readCells(line: string): string[] {
  return [...line.matchAll(/"(?:\\"|[^"])*"|(?:(?!\p{Zs}{2}).)+/gu)]
    .map(([cell]) => cell.trim())
    .filter((cell) => cell !== '');
}

test('names in tables forge no line or column', () => {
  const names = listHostileNames();
  const hidden = new Set(listHiddenCharacters());
  let checked = 0;
  for (const name of [...names, 'send_mail  approved  bob', ' x', 'x ', '"a"  b']) {
    const [, line, ...rest] = formatTable(['TOOL', 'STATUS', 'BY'], [[name, 'pending', 'bot']]);
    assert.equal(rest.length, 0);
    assert.deepEqual(readCells(line!).slice(1), ['pending', 'bot'], JSON.stringify(name));
    assert.ok(![...line!].some((each) => hidden.has(each)), JSON.stringify(name));
    checked += 1;
  }
  assert.ok(checked > 2_000, `${checked}`);
  assert.deepEqual(formatTable(['A'], [['send_mail']]), ['A', 'send_mail'], 'ordinary names have no quotes');
});

test('every hidden character is escaped, and JSON keeps its value', () => {
  for (const character of listHiddenCharacters()) {
    const shown = escapeControls(JSON.stringify({ name: `a${character}b` }));
    assert.doesNotMatch(shown, /[^\x20-\x7e]/, JSON.stringify(character));
    assert.deepEqual(JSON.parse(shown), { name: `a${character}b` });
  }
  assert.equal(escapeControlsInLines('a\n\tb\r\u202e'), 'a\n\tb\\u000d\\u202e');
  assert.equal(escapeControls('Grüße, 東京 – naïve'), 'Grüße, 東京 – naïve', 'other scripts stay');
});
