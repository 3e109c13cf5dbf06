import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DETECTION } from '../../testing/policies.ts';
import { detect } from '../detect.ts';

const LIMITS = { text_bytes_max: 1 << 20, depth_max: 100, nodes_max: 1 << 16, findings_max: 100 };
const PESEL = '44051401359';

function findRules(text: string): readonly string[] {
  return detect({ kind: 'text', text }, DETECTION, LIMITS).findings.map(({ rule_id }) => rule_id);
}

test('a bare number with a right check digit is found where nothing else explains it', () => {
  const texts = [`row ${PESEL} of it`, `("${PESEL}")`, `pesel: ${PESEL}`, `order of pesel ${PESEL}`];
  for (const text of texts) assert.equal(findRules(text).length, 1, text);
});

test('a bare number is no evidence after a word for another number, before a unit, or as a constant', () => {
  const texts = [
    `build ${PESEL}`,
    `order no. ${PESEL}`,
    `{"sku": "${PESEL}"}`,
    `size=${PESEL}`,
    `took ${PESEL} ns`,
    `x = ${PESEL} << 3`,
    'flag 17179869184 set',
    'row 11111111116 of it',
    'at 202601311200 today',
  ];
  for (const text of texts) assert.deepEqual(findRules(text), [], text);
  assert.equal(texts.length, 9);
});

test('a preposition and a quantity are no German VAT number', () => {
  const misses = ['un total de 136.695.976 pesos', 'De 136695976 personas', 'TOTAL DE 136.695.976 EUROS'];
  for (const text of misses) assert.deepEqual(findRules(text), [], text);
  const hits = ['the firm DE136695976', 'the firm DE 136 695 976', 'the firm de136695976'];
  for (const text of hits) assert.deepEqual(findRules(text), ['de.vat'], text);
  assert.equal(findRules('USt-IdNr: DE 136.695.976').length, 1);
});
