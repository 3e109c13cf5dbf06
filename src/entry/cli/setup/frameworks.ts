import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** A framework for agents: the file that guards it over HTTP. */
export interface Framework {
  readonly name: string;
  readonly label: string;
  /** In the folder `integrations`. */
  readonly source: string;
  /** As it is written. */
  readonly file: string;
}

/** All frameworks, in the order of the alphabet. */
export const frameworks: readonly Framework[] = [
  python('autogen', 'AutoGen'),
  python('crewai', 'CrewAI'),
  python('langchain', 'LangChain'),
  python('langgraph', 'LangGraph'),
  python('llamaindex', 'LlamaIndex'),
  python('openai-agents', 'OpenAI Agents SDK'),
  {
    name: 'vercel-ai',
    label: 'Vercel AI SDK',
    source: 'vercel-ai.ts',
    file: 'service-vercel-ai.ts',
  },
];

function python(name: string, label: string): Framework {
  const source = `${name.replaceAll('-', '_')}.py`;
  return { name, label, source, file: `service_${source}` };
}

/** Where the sources are: four folders up, in `src` and in `dist` alike. */
const FOLDER = fileURLToPath(new URL('../../../../integrations/', import.meta.url));

/** Lines by which a source takes in one that stands beside it. */
const BESIDE = /^(?:from (guard|messages) import .*|import \{.*\} from '\.\/(guard\.ts)';)$/gm;

/** The text of a framework's file: its source, with those beside it that it needs, so that one file is all there is. */
export async function frameworkText({ source }: Pick<Framework, 'source'>): Promise<string> {
  const text = await readFile(`${FOLDER}${source}`, 'utf8');
  const parts = await Promise.all(
    [...text.matchAll(BESIDE)].map(([, python_name, file]) =>
      frameworkText({ source: file ?? `${python_name}.py` }),
    ),
  );
  return text.replace(BESIDE, () => parts.shift()!.trimEnd());
}
