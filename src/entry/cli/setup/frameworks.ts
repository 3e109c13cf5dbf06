import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** An agent framework and the file that guards it over HTTP. */
export interface Framework {
  readonly name: string;
  readonly label: string;
  /** The source file in the folder `integrations`. */
  readonly source: string;
  /** The name of the written file. */
  readonly file: string;
}

/** All frameworks, in alphabetical order. */
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

/** The folder of the sources: four folders up, in `src` and in `dist`. */
const FOLDER = fileURLToPath(new URL('../../../../integrations/', import.meta.url));

/** Matches lines in which a source imports another one of the same folder. */
const BESIDE = /^(?:from (guard|messages) import .*|import \{.*\} from '\.\/(guard\.ts)';)$/gm;

/**
 * Returns the text of a framework's file. Imported sources of the same folder are inlined, so that one file is enough.
 */
export async function readFrameworkGuard({ source }: Pick<Framework, 'source'>): Promise<string> {
  const text = await readFile(`${FOLDER}${source}`, 'utf8');
  const parts = await Promise.all(
    [...text.matchAll(BESIDE)].map(([, python_name, file]) =>
      readFrameworkGuard({ source: file ?? `${python_name}.py` }),
    ),
  );
  return text.replace(BESIDE, () => parts.shift()!.trimEnd());
}
