import { readFile } from 'node:fs/promises';
import {
  type AgentFramework,
  agentFrameworks,
  genericFrameworks,
} from '../../operations/agent-frameworks.ts';

/** The targets of the integration advisor: the frameworks of `customshouse setup`, and code without one. */
export const integrationTargets: readonly AgentFramework[] = [...agentFrameworks, ...genericFrameworks];

/** The names of the targets, for messages. */
export const INTEGRATION_TARGET_NAMES: readonly string[] = integrationTargets.map(({ name }) => name);

/** Returns a target by its name in any case; `null` if there is none. */
export function findIntegrationTarget(written: string): AgentFramework | null {
  const wanted = written.trim().toLowerCase().replaceAll('_', '-');
  return integrationTargets.find(({ name }) => name === wanted) ?? null;
}

const REFERENCE = new URL('../../../data/adapter-reference.json', import.meta.url);

/** Returns the public functions of the SDK that the file of a target uses, and an example if there is one. */
export async function readAdapterReference({ source }: Pick<AgentFramework, 'source'>): Promise<string> {
  const parts = JSON.parse(await readFile(REFERENCE, 'utf8')) as Readonly<Record<string, string>>;
  return parts[source] ?? '';
}
