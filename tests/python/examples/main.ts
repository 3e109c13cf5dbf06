/** `npm run test:frameworks`: the examples of the Python package with the frameworks that are large. */
import { buildPythonCore } from '../../../scripts/build/python.ts';
import { installFrameworks } from '../frameworks/environments.ts';
import { HEAVY_EXAMPLES, runPythonExample } from './run.ts';

await buildPythonCore();
const wanted = process.argv.slice(2);
let failed = 0;
for (const [name, environment] of Object.entries(HEAVY_EXAMPLES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  try {
    await runPythonExample(name, installFrameworks(environment));
    console.log(`ok      example python-${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  example python-${name}`, error instanceof Error ? error.message : error);
  }
}
process.exitCode = failed > 0 ? 1 : 0;
