import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** An agent framework and the file that guards it. */
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
  python('ag2', 'AG2'),
  python('autogen', 'AutoGen'),
  python('claude-agent', 'Claude Agent SDK'),
  typescript('claude-agent-sdk', 'Claude Agent SDK'),
  python('crewai', 'CrewAI'),
  python('google-adk', 'Google ADK'),
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
  python('pydantic-ai', 'Pydantic AI'),
  python('semantic-kernel', 'Semantic Kernel'),
  python('smolagents', 'smolagents'),
  python('strands', 'Strands'),
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

/** Returns the text of a framework's file. */
export function readFrameworkGuard({ source }: Pick<Framework, 'source'>): Promise<string> {
  return readFile(`${FOLDER}${source}`, 'utf8');
}
