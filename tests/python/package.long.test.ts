/** The tests of the Python package in front of a service, on its sources. `package.nightly.test.ts` runs all on the installed package. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildPythonCore } from '../../scripts/build/python.ts';
import { locateComponent } from '../../scripts/components/components.ts';
import { runPackageTests, startPackageService } from './package-tests.ts';
import { runPython } from './run-python.ts';

const python = locateComponent('sdk-python');
/** The guards themselves are tried by `cases.long.test.ts`. */
const SAMPLE = { files: ['tests/test_client.py'], count: 29 };
const skip = python === null && 'sdk-python is not installed';

test('the tests of the client pass', { skip }, async (t) => {
  await buildPythonCore();
  const folder = mkdtempSync(join(tmpdir(), 'python-tests-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const service = await startPackageService();
  t.after(() => service.stop());
  const run = ([program, ...words]: readonly string[], env: Readonly<Record<string, string>>) =>
    runPython(program!, words, env);
  await runPackageTests(run, python!, folder, service, SAMPLE);
});
