/**
 * `npm run test:frameworks`: the adapters of the Python package with the frameworks that are large. It installs them,
 * which takes some minutes and 2 GB.
 */
import { join } from 'node:path';
import { buildPythonCore } from '../../../scripts/build/python.ts';
import { getPrograms, installFromPypi, isFromPypi } from '../../../scripts/components/python.ts';
import { openStage, type PythonFramework, playPython } from './play.ts';

/** Dependencies of the package itself. */
const OWN = ['httpx==0.28.1', 'jsrun==0.3.0'];
/** Environments by name, because some frameworks need different versions of the same package. */
const ENVIRONMENTS: Readonly<Record<string, readonly string[]>> = {
  'frameworks-heavy': ['google-adk==2.13.0', 'semantic-kernel==1.45.0', ...OWN],
  'frameworks-claude': ['claude-agent-sdk==0.2.187', 'smolagents==1.26.0', ...OWN],
  'frameworks-crewai': ['crewai==1.15.30', ...OWN],
};
const HEAVY: readonly (PythonFramework & { readonly environment: string })[] = [
  { name: 'claude_agent', environment: 'frameworks-claude' },
  {
    name: 'crewai',
    environment: 'frameworks-crewai',
    call_blocked: 'Tool execution blocked by hook. Tool: look_up',
  },
  { name: 'google_adk', environment: 'frameworks-heavy' },
  { name: 'semantic_kernel', environment: 'frameworks-heavy' },
  { name: 'smolagents', environment: 'frameworks-claude' },
];

await buildPythonCore();
const stage = await openStage();
const wanted = process.argv.slice(2);
let failed = 0;
for (const { environment, ...framework } of HEAVY) {
  if (wanted.length > 0 && !wanted.includes(framework.name)) continue;
  const requirements = ENVIRONMENTS[environment]!;
  if (!isFromPypi(environment, requirements) && !installFromPypi(environment, requirements))
    throw new Error(`${requirements.join(', ')} cannot be installed.`);
  try {
    const count = await playPython(join(getPrograms(environment), 'python'), framework, stage);
    console.log(`ok      ${framework.name}, ${count} scenes`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${framework.name}`, error instanceof Error ? error.message : error);
  }
}
await stage.stop();
process.exitCode = failed > 0 ? 1 : 0;
