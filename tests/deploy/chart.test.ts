/** The chart without Helm: its values, its version, and the files that it shares with others. `chart.nightly.test.ts` renders it. */
import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { getPackageVersion } from '../../src/platform/version.ts';
import { DEPLOY, explainMissing, needProgram, run } from './support/programs.ts';

const CHART = join(DEPLOY, 'helm/customshouse');
const read = (name: string) => parse(readFileSync(join(CHART, name), 'utf8'));

test('the schema accepts the values, and refuses unknown names', {
  skip: explainMissing('deploy-python'),
}, () => {
  const program = needProgram('deploy-python', 'check-jsonschema');
  const check = (...files: readonly string[]) =>
    run(program, ['--schemafile', join(CHART, 'values.schema.json'), ...files]);
  const accepted = check(join(CHART, 'values.yaml'), ...globSync(join(CHART, 'ci/*.yaml')));
  assert.equal(accepted.code, 0, accepted.output);
  const dir = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    const wrong = [
      { replica: 2 },
      { replicas: 0 },
      { postgresql: { host: 'a b' } },
      { documents: { '../service.yaml': '' } },
      { secrets: { 'A-B': { name: 'a', key: 'b' } } },
    ].map((values, at) => {
      const file = join(dir, `${at}.json`);
      writeFileSync(file, JSON.stringify(values));
      return file;
    });
    const { code, output } = check(...wrong);
    assert.equal(code, 1);
    for (const file of wrong) assert.ok(output.includes(`${file}::`), output);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('the schema has every value, and no other', () => {
  const listNames = (value: unknown, schema: { properties?: Record<string, object> }, at = ''): string[] =>
    schema.properties === undefined
      ? []
      : [...new Set([...Object.keys(value ?? {}), ...Object.keys(schema.properties)])].flatMap((name) => {
          const inner = (value as Record<string, unknown> | null)?.[name];
          const own = schema.properties?.[name];
          if (inner === undefined || own === undefined) return [`${at}${name}`];
          return listNames(inner, own, `${at}${name}.`);
        });
  assert.deepEqual(
    listNames(read('values.yaml'), JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))),
    [
      // Helm adds it to the values of every chart.
      'global',
    ],
  );
});

test('the chart has the version of the program, and the rules of the folder `monitoring`', () => {
  assert.equal(read('Chart.yaml').appVersion, getPackageVersion());
  assert.equal(realpathSync(join(DEPLOY, 'monitoring/rules.yaml')), join(CHART, 'files/rules.yaml'));
});
