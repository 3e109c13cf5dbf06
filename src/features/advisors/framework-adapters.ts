import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** A framework for which this program ships an adapter. */
export interface FrameworkAdapter {
  readonly target: string;
  readonly label: string;
  readonly language: 'python' | 'typescript';
  /** The source in the folder `integrations`. */
  readonly source: string;
  /** The file that `service setup <target>` writes. */
  readonly file: string;
}

/** The targets of the integration advisor, in alphabetical order; `generic` last. */
export const frameworkAdapters: readonly FrameworkAdapter[] = [
  buildPython('autogen', 'AutoGen'),
  buildPython('crewai', 'CrewAI'),
  buildPython('langchain', 'LangChain'),
  buildPython('langgraph', 'LangGraph'),
  buildPython('llamaindex', 'LlamaIndex'),
  buildPython('openai-agents', 'OpenAI Agents SDK'),
  {
    target: 'vercel-ai',
    label: 'Vercel AI SDK',
    language: 'typescript',
    source: 'vercel-ai.ts',
    file: 'service-vercel-ai.ts',
  },
  {
    target: 'generic',
    label: 'Python without a framework',
    language: 'python',
    source: 'guard.py',
    file: 'guard.py',
  },
];

function buildPython(target: string, label: string): FrameworkAdapter {
  const source = `${target.replaceAll('-', '_')}.py`;
  return { target, label, language: 'python', source, file: `service_${source}` };
}

/** Returns the adapter of a target in any case; `null` if there is none. */
export function findFrameworkAdapter(target: string): FrameworkAdapter | null {
  const name = target.trim().toLowerCase().replaceAll('_', '-');
  return frameworkAdapters.find((each) => each.target === name) ?? null;
}

const FOLDER = fileURLToPath(new URL('../../../integrations/', import.meta.url));

/** Reads the source of an adapter. It is public code of this program, and holds nothing of the user. */
export function readAdapterSource({ source }: FrameworkAdapter): Promise<string> {
  return readFile(`${FOLDER}${source}`, 'utf8');
}
