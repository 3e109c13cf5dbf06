/**
 * `npm run test:frameworks`: the adapters of the Python package with the frameworks that are large. It installs them,
 * which takes some minutes and 2 GB.
 */
import { buildPythonCore } from '../../../scripts/build/python.ts';
import { installFrameworks } from './environments.ts';
import { openStage, type PythonFramework, playPython } from './play.ts';

const HEAVY: readonly (PythonFramework & { readonly environment: string })[] = [
  { name: 'claude_agent', environment: 'frameworks-claude' },
  {
    name: 'crewai',
    environment: 'frameworks-crewai',
    ways: ['stream', 'async_stream', 'native_async_stream', 'listener', 'native'],
  },
  {
    name: 'google_adk',
    environment: 'frameworks-heavy',
    ways: ['stream'],
    raises: 'RuntimeError: BlockedError',
  },
  {
    name: 'semantic_kernel',
    environment: 'frameworks-heavy',
    ways: ['stream', 'clone_stream', 'prompt_stream', 'elsewhere', 'elsewhere_stream'],
  },
  { name: 'smolagents', environment: 'frameworks-claude' },
];

await buildPythonCore();
const stage = await openStage();
const wanted = process.argv.slice(2);
let failed = 0;
for (const { environment, ...framework } of HEAVY) {
  if (wanted.length > 0 && !wanted.includes(framework.name)) continue;
  try {
    const count = await playPython(installFrameworks(environment), framework, stage);
    console.log(`ok      ${framework.name}, ${count} scenes`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${framework.name}`, error instanceof Error ? error.message : error);
  }
}
await stage.stop();
process.exitCode = failed > 0 ? 1 : 0;
