/** Runs the examples of the Python package with the packages of an environment. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentFrameworks } from '../../../src/operations/agent-frameworks.ts';
import { root } from '../../support/checkout.ts';
import { runPython } from '../run-python.ts';

const SECRET = 'sk-ABCDEF1234567890';

/** The examples that install in seconds, and those of large frameworks with their environments. */
export const LIGHT_EXAMPLES = [
  'ag2',
  'autogen',
  'langchain',
  'langgraph',
  'llamaindex',
  'openai-agents',
  'pydantic-ai',
  'quickstart',
  'strands',
];
export const HEAVY_EXAMPLES: Readonly<Record<string, string>> = {
  'claude-agent': 'frameworks-claude',
  crewai: 'frameworks-crewai',
  'google-adk': 'frameworks-heavy',
  'semantic-kernel': 'frameworks-heavy',
  smolagents: 'frameworks-claude',
};

/**
 * Runs an example: it must print what its README shows, and fail if its call holds no secret, because then the tool runs.
 * Then runs the file that `customshouse setup` writes for the framework.
 *
 * @param python - the Python of an environment with the framework
 */
export async function runPythonExample(name: string, python: string): Promise<void> {
  const folder = join(root, 'examples', `python-${name}`);
  const shown = /```text\n([\s\S]*?)```/.exec(readFileSync(join(folder, 'README.md'), 'utf8'))?.[1];
  const written = agentFrameworks.filter(({ file, name: each }) => each === name && file.endsWith('.py'));
  const files = written.map(({ source }) => join(root, 'integrations', source));
  const ran = await runPython(python, [
    join(import.meta.dirname, 'run_example.py'),
    folder,
    SECRET,
    ...files,
  ]);
  assert.equal(files.length, name === 'quickstart' ? 0 : 1, name);
  assert.equal(ran.code, 0, `${name}: ${ran.stderr.slice(-4_000)}`);
  assert.equal(ran.stdout, shown, name);
}
