import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  type AgentFramework,
  agentFrameworks,
  genericFrameworks,
} from '../../src/operations/agent-frameworks.ts';
import { listDeclarations } from './sdk-reference.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8');

/**
 * Returns data/adapter-reference.json: for each file in `integrations` the public functions of the SDK modules that it
 * imports, and an example if there is one. The integration advisor sends them, because the package has no source code.
 */
export function renderAdapterReference(): string {
  const entries = [...agentFrameworks, ...genericFrameworks].map((framework) => {
    const text = read('integrations', framework.source);
    const python = [...text.matchAll(/^from customshouse\.adapters\.(\w+) import/gm)].map(
      ([, name = '']) => name,
    );
    const script = [...text.matchAll(/from 'customshouse\/sdk\/([\w-]+)'/g)].map(([, name = '']) => name);
    const parts = [
      ...python.map((name) =>
        describePython(`customshouse.adapters.${name}`, join('adapters', `${name}.py`), null),
      ),
      ...script.map((name) => describeScript(`customshouse/sdk/${name}`, join('adapters', `${name}.ts`))),
      ...(python.length + script.length > 0 ? [] : [describeGuard(framework, text)]),
      ...readExample(framework),
    ];
    return [framework.source, parts.join('\n\n')];
  });
  return `${JSON.stringify(Object.fromEntries(entries), null, 1)}\n`;
}

function describeGuard({ language }: AgentFramework, text: string): string {
  return language === 'python'
    ? describePython('customshouse', 'tools.py', text)
    : describeScript('customshouse/sdk', 'guard.ts');
}

function describeScript(module: string, file: string): string {
  return `Module ${module}:\n${listDeclarations(join(ROOT, 'src', 'sdk', file)).join('\n')}`;
}

/**
 * Returns the text of the module, then each public class and function with its text. With `user`, only those that this
 * text names.
 */
function describePython(module: string, file: string, user: string | null): string {
  const text = read('python', 'customshouse', file);
  const about = /^"""([\s\S]*?)"""/.exec(text)?.[1] ?? '';
  const found = text.matchAll(/^(?:(?:async )?def|class) (?!_)(\w+)[\s\S]*?:\n {4}"""[\s\S]*?"""/gm);
  const shown = [...found].filter(([, name = '']) => user?.includes(name) ?? true).map(([each]) => each);
  return `Module ${module}:\n${about.trim()}\n\n${shown.join('\n\n')}`;
}

function readExample({ source }: AgentFramework): readonly string[] {
  if (!source.endsWith('.ts')) return [];
  const path = join('examples', `typescript-${source.slice(0, -'.ts'.length)}`, 'agent.mjs');
  return existsSync(join(ROOT, path)) ? [`Example:\n${read(path).trim()}`] : [];
}
