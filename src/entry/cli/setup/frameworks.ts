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
  typescript('claude-agent-sdk', 'Claude Agent SDK'),
  python('crewai', 'CrewAI'),
  python('langchain', 'LangChain'),
  typescript('langchain', 'LangChain'),
  python('langgraph', 'LangGraph'),
  typescript('langgraph', 'LangGraph'),
  python('llamaindex', 'LlamaIndex'),
  typescript('llamaindex', 'LlamaIndex.TS'),
  typescript('mastra', 'Mastra', 'mastra'),
  typescript('mcp', 'MCP client'),
  python('openai-agents', 'OpenAI Agents SDK'),
  typescript('openai-agents', 'OpenAI Agents SDK'),
  typescript('vercel-ai', 'Vercel AI SDK', 'vercel-ai'),
];

function python(name: string, label: string): Framework {
  const source = `${name.replaceAll('-', '_')}.py`;
  return { name, label, source, file: `service_${source}` };
}

/** The name ends with `-ts` by default, because Python has a framework of the same name. */
function typescript(framework: string, label: string, name = `${framework}-ts`): Framework {
  return { name, label: `${label} (TypeScript)`, source: `${framework}.ts`, file: `service-${framework}.ts` };
}

/** The folder of the sources: four folders up, in `src` and in `dist`. */
const FOLDER = fileURLToPath(new URL('../../../../integrations/', import.meta.url));

/** Matches lines in which a source of Python imports another one of the same folder. */
const BESIDE = /^from (guard|messages) import .*$/gm;

/**
 * Returns the text of a framework's file. Imported sources of the same folder are inlined, so that one file is enough.
 */
export async function readFrameworkGuard({ source }: Pick<Framework, 'source'>): Promise<string> {
  const text = await readFile(`${FOLDER}${source}`, 'utf8');
  const parts = await Promise.all(
    [...text.matchAll(BESIDE)].map(([, name]) => readFrameworkGuard({ source: `${name}.py` })),
  );
  return text.replace(BESIDE, () => parts.shift()!.trimEnd());
}
