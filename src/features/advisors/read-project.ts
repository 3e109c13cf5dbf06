import { constants, type Dirent } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { OutlineTool, ProjectOutline } from '../../core/advisors/project-outline.ts';
import { MCP_FILES, readManifestPackages, readMcpServers } from './manifest-names.ts';
import { readPythonNames, readScriptNames, type SourceNames } from './source-names.ts';

/** The limits of reading a project. */
const FILES_MAX = 3_000;
const ENTRIES_MAX = 50_000;
const FILE_BYTES_MAX = 512 * 1_024;
const PROJECT_BYTES_MAX = 64 * 1_024 * 1_024;
const DEPTH_MAX = 16;

const SKIPPED = new Set([
  'node_modules',
  '__pycache__',
  'venv',
  'env',
  'site-packages',
  'dist',
  'build',
  'target',
  'vendor',
  'coverage',
]);
const MANIFESTS = new Set(['package.json', 'pyproject.toml', 'requirements.txt']);
const SCRIPTS = new Set(['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs']);

/** Packages that name a framework or a model API, each with the name that advisors use. */
const FRAMEWORKS: Readonly<Record<string, string>> = {
  langchain: 'langchain',
  'langchain-core': 'langchain',
  langchain_core: 'langchain',
  '@langchain/core': 'langchain',
  langgraph: 'langgraph',
  '@langchain/langgraph': 'langgraph',
  crewai: 'crewai',
  autogen: 'autogen',
  'autogen-agentchat': 'autogen',
  autogen_agentchat: 'autogen',
  'autogen-core': 'autogen',
  autogen_core: 'autogen',
  ag2: 'ag2',
  'claude-agent-sdk': 'claude-agent',
  claude_agent_sdk: 'claude-agent',
  '@anthropic-ai/claude-agent-sdk': 'claude-agent',
  'google-adk': 'google-adk',
  'google.adk': 'google-adk',
  'semantic-kernel': 'semantic-kernel',
  semantic_kernel: 'semantic-kernel',
  smolagents: 'smolagents',
  'strands-agents': 'strands',
  strands: 'strands',
  '@mastra/core': 'mastra',
  'llama-index-core': 'llamaindex',
  'llama-index': 'llamaindex',
  llama_index: 'llamaindex',
  llamaindex: 'llamaindex',
  'openai-agents': 'openai-agents',
  agents: 'openai-agents',
  '@openai/agents': 'openai-agents',
  ai: 'vercel-ai',
  '@ai-sdk/openai': 'vercel-ai',
  openai: 'openai',
  anthropic: 'anthropic',
  '@anthropic-ai/sdk': 'anthropic',
  mcp: 'mcp',
  fastmcp: 'mcp',
  '@modelcontextprotocol/sdk': 'mcp',
  pydantic_ai: 'pydantic-ai',
  'pydantic-ai': 'pydantic-ai',
  fastapi: 'fastapi',
  flask: 'flask',
  django: 'django',
  express: 'express',
};

interface ProjectFindings {
  readonly languages: Set<string>;
  readonly packages: Set<string>;
  readonly imports: Set<string>;
  readonly tools: Map<string, OutlineTool>;
  readonly agents: Set<string>;
  readonly mcp_servers: Set<string>;
  files: number;
  entries: number;
  bytes: number;
  is_partial: boolean;
}

/**
 * Reads the names of a Python or TypeScript project. Links, hidden folders, installed packages and builds are skipped;
 * of the rest only names are kept. Rejects with `ENOENT` or `ENOTDIR` if there is no such folder.
 */
export async function readProject(folder: string): Promise<ProjectOutline> {
  const found: ProjectFindings = {
    languages: new Set(),
    packages: new Set(),
    imports: new Set(),
    tools: new Map(),
    agents: new Set(),
    mcp_servers: new Set(),
    ...{ files: 0, entries: 0, bytes: 0, is_partial: false },
  };
  await walkFolder(folder, await readdir(folder, { withFileTypes: true }), 0, found);
  const sorted = (names: ReadonlySet<string>): readonly string[] => [...names].sort();
  const names = [...found.packages, ...found.imports].flatMap((name) => {
    const framework = Object.hasOwn(FRAMEWORKS, name) ? FRAMEWORKS[name] : undefined;
    return framework === undefined ? [] : [framework];
  });
  return {
    languages: sorted(found.languages),
    packages: sorted(found.packages),
    imports: sorted(found.imports),
    frameworks: sorted(new Set(names)),
    tools: [...found.tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    agents: sorted(found.agents),
    mcp_servers: sorted(found.mcp_servers),
    file_count: found.files,
    is_partial: found.is_partial,
  };
}

async function walkFolder(
  folder: string,
  entries: readonly Dirent[],
  depth: number,
  found: ProjectFindings,
): Promise<void> {
  for (const entry of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    found.entries += 1;
    if (found.entries > ENTRIES_MAX || found.files >= FILES_MAX || found.bytes >= PROJECT_BYTES_MAX) {
      found.is_partial = true;
      return;
    }
    const path = join(folder, entry.name);
    if (entry.isFile()) await readNames(path, found);
    else if (entry.isDirectory() && isRead(entry.name)) {
      if (depth >= DEPTH_MAX) found.is_partial = true;
      else
        await walkFolder(
          path,
          await readdir(path, { withFileTypes: true }).catch(() => []),
          depth + 1,
          found,
        );
    }
  }
}

/** Hidden folders hold settings and credentials, except those with the MCP servers of editors. */
function isRead(name: string): boolean {
  return name === '.cursor' || name === '.vscode' || !(name.startsWith('.') || SKIPPED.has(name));
}

async function readNames(path: string, found: ProjectFindings): Promise<void> {
  const name = basename(path);
  const kind = extname(name);
  if (MANIFESTS.has(name)) {
    const packages = readManifestPackages(name, await readText(path, found));
    for (const each of packages) found.packages.add(each);
  } else if (MCP_FILES.has(name)) {
    for (const each of readMcpServers(await readText(path, found))) found.mcp_servers.add(each);
  } else if (kind === '.py') addNames(readPythonNames(await readText(path, found)), 'python', found);
  else if (SCRIPTS.has(kind) && !name.endsWith('.d.ts'))
    addNames(readScriptNames(await readText(path, found)), 'typescript', found);
}

function addNames({ imports, tools, agents }: SourceNames, language: string, found: ProjectFindings): void {
  found.languages.add(language);
  for (const each of imports) found.imports.add(each);
  for (const each of agents) found.agents.add(each);
  for (const tool of tools) if (!found.tools.has(tool.name)) found.tools.set(tool.name, tool);
}

/** Reads a file without following a link. A large file, or one that cannot be read, is empty. */
async function readText(path: string, found: ProjectFindings): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
  if (file === null) return '';
  try {
    const { size } = await file.stat();
    if (size > FILE_BYTES_MAX) {
      found.is_partial = true;
      return '';
    }
    const text = await file.readFile('utf8');
    found.files += 1;
    found.bytes += size;
    return text;
  } finally {
    await file.close();
  }
}
