/** The environments of the frameworks that are too large for CI. */
import { join } from 'node:path';
import { getPrograms, installFromPypi, isFromPypi } from '../../../scripts/components/python.ts';

/** Dependencies of the package itself. */
const OWN = ['httpx==0.28.1', 'jsrun==0.3.0'];
/** Environments by name, because some frameworks need different versions of the same package. */
export const HEAVY_ENVIRONMENTS: Readonly<Record<string, readonly string[]>> = {
  'frameworks-heavy': ['google-adk==2.13.0', 'semantic-kernel==1.45.0', ...OWN],
  'frameworks-claude': ['claude-agent-sdk==0.2.187', 'smolagents==1.26.0', ...OWN],
  'frameworks-crewai': ['crewai==1.15.30', ...OWN],
};

/** Installs an environment if it is not there, and returns its Python. */
export function installFrameworks(environment: string): string {
  const requirements = HEAVY_ENVIRONMENTS[environment]!;
  if (!isFromPypi(environment, requirements) && !installFromPypi(environment, requirements))
    throw new Error(`${requirements.join(', ')} cannot be installed.`);
  return join(getPrograms(environment), 'python');
}
