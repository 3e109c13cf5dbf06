/** The tools for `npm run test:edge`, from PyPI, in their versions. */
import { join } from 'node:path';
import { getPrograms, installFromPypi, isFromPypi } from '../../scripts/components/python.ts';

const ENVIRONMENT = 'edge';
const REQUIREMENTS = [
  'agent-security-harness==4.28.1',
  'openapi-spec-validator==0.9.0',
  'schemathesis==4.32.5',
];

/** Installs the tools if they are not there, and returns a program's path. */
export function locateEdgeTool(program: string): string {
  if (!isFromPypi(ENVIRONMENT, REQUIREMENTS) && !installFromPypi(ENVIRONMENT, REQUIREMENTS))
    throw new Error(`${REQUIREMENTS.join(', ')} cannot be installed.`);
  return join(getPrograms(ENVIRONMENT), program);
}
