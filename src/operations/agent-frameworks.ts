import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** An agent framework, and the file of this program that guards it. */
export interface AgentFramework {
  readonly name: string;
  readonly label: string;
  readonly language: 'python' | 'typescript';
  /** The source file in the folder `integrations`. */
  readonly source: string;
  /** The name of the file in a project. */
  readonly file: string;
}

/** All frameworks, in alphabetical order: the targets of `service setup` and of `service intelligence integrate`. */
export const agentFrameworks: readonly AgentFramework[] = [
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

/** Code without a framework. `service setup generic` prints the steps by hand instead of writing a file. */
export const genericFrameworks: readonly AgentFramework[] = [
  python('generic', 'no framework'),
  typescript('generic', 'no framework'),
];

function python(name: string, label: string): AgentFramework {
  const source = `${name.replaceAll('-', '_')}.py`;
  return { name, label, language: 'python', source, file: `service_${source}` };
}

/** The name ends with `-ts` by default, because Python has a framework of the same name. */
function typescript(framework: string, label: string, name = `${framework}-ts`): AgentFramework {
  return {
    name,
    label: `${label} (TypeScript)`,
    language: 'typescript',
    source: `${framework}.ts`,
    file: `service-${framework}.ts`,
  };
}

/** The folder of the sources: two folders up, in `src` and in `dist`. */
const FOLDER = fileURLToPath(new URL('../../integrations/', import.meta.url));

/** Returns the text of a framework's file. It is public code of this program, and holds nothing of the user. */
export function readFrameworkGuard({ source }: Pick<AgentFramework, 'source'>): Promise<string> {
  return readFile(`${FOLDER}${source}`, 'utf8');
}
