import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CostLine, formatCostCsv, formatCostMarkdown, formatMoney } from './cost-report.ts';

function buildCostLine(parts: Partial<CostLine>): CostLine {
  return {
    cost: 1.5,
    calls: 2,
    tokens: { input: 10, output: 5, cache_read: 3, cache_write: 0 },
    estimated_calls: 0,
    assumed_calls: 1,
    ...parts,
  };
}

test('names that callers chose stay names, in a spreadsheet and on a page', () => {
  const agents = [
    'plain',
    '=HYPERLINK("x")',
    '+1',
    '-1',
    '@a',
    ' =1',
    '\uff1d1',
    'a,b',
    'a|b<i>',
    'a\nb\u001b[2J',
  ];
  const lines = agents.map((agent) => buildCostLine({ agent }));
  const figures = '2,10,5,3,0,0,1,1.500000';
  assert.deepEqual(formatCostCsv(['agent'], lines).slice(1), [
    `plain,${figures}`,
    `"'=HYPERLINK(""x"")",${figures}`,
    `'+1,${figures}`,
    `'-1,${figures}`,
    `'@a,${figures}`,
    `' =1,${figures}`,
    `'\uff1d1,${figures}`,
    `"a,b",${figures}`,
    `a|b<i>,${figures}`,
    `a\\u000ab\\u001b[2J,${figures}`,
  ]);
  const pages = formatCostMarkdown(['agent'], lines);
  assert.equal(pages[10], '| a\\|b\\<i> | 2 | 10 | 5 | 3 | 0 | 0 | 1 | 1.500000 |');
  assert.ok(pages.every((row) => !row.includes('\n') && row.split(/(?<!\\)\|/).length === 11));
  assert.equal(pages.length, 12);
});

test('dollars', () => {
  assert.deepEqual([0, 0.00011, 1, 12.345, 1_000_000].map(formatMoney), [
    '$0.00',
    '$0.000110',
    '$1.00',
    '$12.35',
    '$1000000.00',
  ]);
});
