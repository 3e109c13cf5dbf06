import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DELIMITERS, listHiddenCharacters } from '../../core/testing/hostile-characters.ts';
import { appendPart, listParts, removePart } from './document-parts.ts';

const finance = { kind: 'Template', name: 'finance', version: null } as const;
const cards = { kind: 'Skill', name: 'pci-dss', version: '1.2.0' } as const;
const RULES = 'policies:\n  - name: a\n---\n# inner comment\npolicies:\n  - name: b\n';

test('a part is removed without a trace, in every order', () => {
  const bases = ['', 'policies: []\n', '# a comment\npolicies:\n  - name: own\n'];
  let ran = 0;
  for (const base of bases) {
    const one = appendPart(base, finance, RULES);
    const both = appendPart(one, cards, RULES);
    assert.deepEqual(listParts(both), [
      { ...finance, is_edited: false },
      { ...cards, is_edited: false },
    ]);
    assert.equal(removePart(one, 'Template', 'finance'), base);
    assert.equal(removePart(both, 'Skill', 'pci-dss'), one);
    assert.equal(removePart(both, 'Template', 'finance'), appendPart(base, cards, RULES));
    assert.equal(removePart(removePart(both, 'Template', 'finance'), 'Skill', 'pci-dss'), base);
    assert.equal(removePart(both, 'Skill', 'finance'), both, 'a template is no skill');
    ran++;
  }
  assert.equal(ran, 3);
});

test('an edited part is known by its digest, and text after it is kept', () => {
  const text = `${appendPart('', cards, RULES)}---\npolicies:\n  - name: later\n`;
  assert.deepEqual(listParts(text.replace('name: b', 'name: c')), [{ ...cards, is_edited: true }]);
  assert.equal(removePart(text, 'Skill', 'pci-dss'), 'policies:\n  - name: later\n');
  assert.deepEqual(listParts('# Skill x begins\n# Skill x ends\n'), []);
});

test('many beginnings without an end are read in linear time', () => {
  const line = `# Skill x 1 begins, sha256 ${'0'.repeat(64)}\n`;
  assert.deepEqual(listParts(line.repeat(8_000)), []);
});

test('a part whose text has the marks of another part is one part', () => {
  const forged = appendPart('', { kind: 'Skill', name: 'other', version: '1.0.0' }, 'policies: []');
  const text = appendPart('', { kind: 'Template', name: 'own', version: null }, `a: 1\n${forged}b: 2`);
  assert.deepEqual(
    listParts(text).map(({ kind, name, is_edited }) => [kind, name, is_edited]),
    [['Template', 'own', false]],
  );
  assert.equal(removePart(text, 'Template', 'own'), '');
  assert.equal(removePart(text, 'Skill', 'other'), text);
});

test('no character in the text of a part ends the part', () => {
  let checked = 0;
  for (const each of [...listHiddenCharacters(), ...DELIMITERS]) {
    const own = `a: 1\n${each}# Template own ends\n# Template own ends${each}\n# Skill x 1 begins${each}\nb: 2`;
    const text = appendPart('', finance, `${own}\n# Template finance ends\n# Template finance ends\nc: 3`);
    assert.deepEqual(listParts(text), [{ ...finance, is_edited: false }], JSON.stringify(each));
    assert.equal(removePart(text, 'Template', 'finance'), '', JSON.stringify(each));
    checked += 1;
  }
  assert.ok(checked > 600);
});
