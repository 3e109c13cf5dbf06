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

/** All frameworks, in alphabetical order: the targets of `customshouse setup` and of `customshouse intelligence integrate`. */
export const agentFrameworks: readonly AgentFramework[] = [
  definePythonFramework('ag2', 'AG2'),
  definePythonFramework('autogen', 'AutoGen'),
  definePythonFramework('claude-agent', 'Claude Agent SDK'),
  defineTypescriptFramework('claude-agent-sdk', 'Claude Agent SDK'),
  definePythonFramework('crewai', 'CrewAI'),
  definePythonFramework('google-adk', 'Google ADK'),
  definePythonFramework('langchain', 'LangChain'),
  defineTypescriptFramework('langchain', 'LangChain'),
  definePythonFramework('langgraph', 'LangGraph'),
  defineTypescriptFramework('langgraph', 'LangGraph'),
  definePythonFramework('llamaindex', 'LlamaIndex'),
  defineTypescriptFramework('llamaindex', 'LlamaIndex.TS'),
  defineTypescriptFramework('mastra', 'Mastra', 'mastra'),
  defineTypescriptFramework('mcp', 'MCP client'),
  definePythonFramework('openai-agents', 'OpenAI Agents SDK'),
  defineTypescriptFramework('openai-agents', 'OpenAI Agents SDK'),
  definePythonFramework('pydantic-ai', 'Pydantic AI'),
  definePythonFramework('semantic-kernel', 'Semantic Kernel'),
  definePythonFramework('smolagents', 'smolagents'),
  definePythonFramework('strands', 'Strands'),
  defineTypescriptFramework('vercel-ai', 'Vercel AI SDK', 'vercel-ai'),
];

/** Code without a framework. `customshouse setup generic` prints the steps by hand instead of writing a file. */
export const genericFrameworks: readonly AgentFramework[] = [
  definePythonFramework('generic', 'no framework'),
  defineTypescriptFramework('generic', 'no framework'),
];

function definePythonFramework(name: string, label: string): AgentFramework {
  const source = `${name.replaceAll('-', '_')}.py`;
  return { name, label, language: 'python', source, file: `service_${source}` };
}

/** The name ends with `-ts` by default, because Python has a framework of the same name. */
function defineTypescriptFramework(
  framework: string,
  label: string,
  name = `${framework}-ts`,
): AgentFramework {
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
