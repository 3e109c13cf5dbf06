import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { formatProblem } from '../../runtime/config/problem-text.ts';
import { loadConfig } from '../../server/load-config.ts';

const cwd = mkdtempSync(join(tmpdir(), 'costs-'));
after(() => rmSync(cwd, { recursive: true, force: true }));

async function load(text: string) {
  writeFileSync(join(cwd, 'service.yaml'), text);
  return loadConfig({ path: null, env: {}, cwd });
}

test('budgets and prices have their defaults', async () => {
  const read = await load(
    'cost: {budgets: [{name: team, limit_usd: 10}], prices: [{model: x, usd_per_mtok: {input: 1, output: 2}}]}',
  );
  assert.ok(read.ok);
  const { cost } = read.config;
  assert.deepEqual([cost.enabled, cost.unknown_models, cost.retention_days], [true, 'assume', 400]);
  assert.deepEqual(cost.assumed_usd_per_mtok, { input: 5, output: 25 });
  assert.deepEqual(cost.budgets, [
    { name: 'team', limit_usd: 10, scope: {}, period: 'month', warn_at: 0.8, enforcement: 'enforce' },
  ]);
});

/** Invalid configurations, and the messages they cause. */
const BAD: Readonly<Record<string, readonly [text: string, message: RegExp]>> = {
  'a budget without a limit': [
    'cost: {budgets: [{name: a}]}',
    /^`cost\.budgets\[0\]` must have `limit_usd` or `limit_tokens`\.$/,
  ],
  'two budgets of one name': [
    'cost: {budgets: [{name: a, limit_usd: 1}, {name: a, limit_usd: 2}]}',
    /^`cost\.budgets\[1\]\.name` is the name of another budget\.$/,
  ],
  'a period that is none': [
    'cost: {budgets: [{name: a, limit_usd: 1, period: year}]}',
    /^`cost\.budgets\[0\]\.period` must be `day`, `week`/,
  ],
  'a period of seconds': [
    'cost: {budgets: [{name: a, limit_usd: 1, period: 59s}]}',
    /^`cost\.budgets\[0\]\.period` is shorter than a minute\.$/,
  ],
  'a budget while nothing is counted': [
    'cost: {enabled: false, budgets: [{name: a, limit_usd: 1}]}',
    /^`cost\.budgets` cannot be kept while nothing is counted/,
  ],
  'a scope by a field that is none': [
    'cost: {budgets: [{name: a, limit_usd: 1, scope: {tenant: acme}}]}',
    /^unknown key `cost\.budgets\[0\]\.scope\.tenant`; did you mean `tenant_id`\?$/,
  ],
  'a limit below nothing': [
    'cost: {budgets: [{name: a, limit_usd: -1}]}',
    /^`cost\.budgets\[0\]\.limit_usd` must be from 0 to 1000000000; it is `-1`\.$/,
  ],
  'a price without what comes out': [
    'cost: {prices: [{model: x, usd_per_mtok: {input: 1}}]}',
    /^`cost\.prices\[0\]\.usd_per_mtok\.output` is missing\.$/,
  ],
  'a user twice': [
    'dashboard: {users: [{user_id: ann}, {user_id: Ann}]}',
    /^`dashboard\.users\[1\]\.user_id` is there already; letters count in either case\.$/,
  ],
};

for (const [name, [text, message]] of Object.entries(BAD)) {
  test(`refused: ${name}`, async () => {
    const read = await load(text);
    assert.ok(!read.ok);
    assert.equal(read.problems.length, 1);
    assert.match(read.problems[0]!.message, message);
  });
}

test('every row ran', () => assert.equal(Object.keys(BAD).length, 9));

test('a price file adds to the prices, and its errors have their lines', async () => {
  const price = 'usd_per_mtok: {input: 1, output: 2}';
  const cases: readonly (readonly [file: string | null, told: RegExp | null])[] = [
    [`prices:\n  - {model: from-file, ${price}}\n`, null],
    [JSON.stringify({ prices: [] }), null],
    [
      `prices:\n  - {model: x, ${price}}\n  - {model: y}\n`,
      /^prices\.yaml:3: `prices\[1\]\.usd_per_mtok` is missing\.$/,
    ],
    ['price: []', /^prices\.yaml:1: unknown key `price`; did you mean `prices`\?/],
    ['- a', /^prices\.yaml:1: `prices\.yaml` must be a mapping; it is a list\.$/],
    [null, /prices\.yaml/],
  ];
  for (const [file, reported] of cases) {
    const path = join(cwd, 'prices.yaml');
    if (file === null) rmSync(path);
    else writeFileSync(path, file);
    const read = await load(`cost: {price_file: prices.yaml, prices: [{model: own, ${price}}]}`);
    assert.equal(read.ok, reported === null, JSON.stringify(read));
    if (read.ok) {
      assert.equal(read.config.cost.prices[0]?.model, 'own');
      assert.equal(read.config.cost.prices.length, file?.includes('from-file') ? 2 : 1);
    } else assert.match(formatProblem(read.problems[0]!), reported!);
  }
  assert.equal(cases.length, 6);
});
