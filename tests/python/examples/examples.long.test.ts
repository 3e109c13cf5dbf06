/** The examples of the Python package. Those of large frameworks: `npm run test:frameworks`. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { buildPythonCore } from '../../../scripts/build/python.ts';
import { components, locateComponent } from '../../../scripts/components/components.ts';
import { getPackageVersion } from '../../../src/platform/version.ts';
import { root } from '../../support/checkout.ts';
import { isNightly } from '../../support/nightly.ts';
import { HEAVY_ENVIRONMENTS } from '../frameworks/environments.ts';
import { HEAVY_EXAMPLES, LIGHT_EXAMPLES, runPythonExample } from './run.ts';

const python = locateComponent('frameworks-python');
const skip =
  python === null &&
  'frameworks-python is not installed (scripts/run scripts/components/main.ts frameworks-python)';

before(async () => {
  if (python !== null) await buildPythonCore();
});

/** Those that run in each round: without a framework, and with one. The adapters of the others are tested with their frameworks. */
const SAMPLES = ['langchain', 'quickstart'];

for (const name of isNightly ? LIGHT_EXAMPLES : SAMPLES)
  test(`the example python-${name} blocks a secret`, { skip }, () => runPythonExample(name, python!));

test('every adapter has an example, and every example is run with the versions that it requires', () => {
  const listed = (folder: string, pattern: RegExp) =>
    readdirSync(join(root, folder)).flatMap((name) => pattern.exec(name)?.[1] ?? []);
  const examples = listed('examples', /^python-(.+)$/);
  assert.deepEqual(examples, [...LIGHT_EXAMPLES, ...Object.keys(HEAVY_EXAMPLES)].toSorted());
  const adapters = listed('python/customshouse/adapters', /^([a-z]\w+)\.py$/);
  assert.deepEqual(
    examples.filter((name) => name !== 'quickstart'),
    adapters.map((name) => name.replaceAll('_', '-')).toSorted(),
  );
  const light = components.find(({ name }) => name === 'frameworks-python')!.pypi!;
  for (const name of examples) {
    const required = readFileSync(join(root, 'examples', `python-${name}`, 'requirements.txt'), 'utf8');
    const [own, ...others] = required.trim().split('\n');
    assert.equal(own, `customshouse==${getPackageVersion()}`);
    const installed = HEAVY_ENVIRONMENTS[HEAVY_EXAMPLES[name] ?? ''] ?? light;
    for (const each of others) assert.ok(installed.includes(each), `${name}: ${each}`);
  }
});
