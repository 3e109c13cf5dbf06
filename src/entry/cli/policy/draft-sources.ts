import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Json, JsonObject } from '../../../core/types/index.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import type { Terminal } from '../../../operations/cli-kit/terminal.ts';
import { HttpFailure, openHttpClient } from '../../../platform/net/http-client.ts';
import { getPackageVersion } from '../../../platform/version.ts';
import { readText } from '../../../runtime/config/read-text.ts';
import type { ReferenceResolver } from '../../../runtime/policies/contract-draft/simplify-schema.ts';
import {
  buildNamedTool,
  type ToolDescription,
} from '../../../runtime/policies/contract-draft/tool-description.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import type { Input } from '../run-operation.ts';
import { type Answer, openOperationSession, runSelectedOperation } from '../run-operation.ts';

export interface SourceOptions {
  readonly from: 'mcp' | 'openapi' | 'traffic';
  readonly since: string;
  readonly tool?: readonly string[];
  readonly prefix?: string;
  readonly config?: string;
}

/** The tools to draft for. */
export interface DraftSource {
  readonly tools: readonly ToolDescription[];
  readonly resolve?: ReferenceResolver;
}

/** Bytes of a file or an answer, at most. */
const SOURCE_BYTES_MAX = 10_485_760;
/** YAML takes about twenty times as long to parse as JSON. */
const YAML_BYTES_MAX = 2_097_152;
const FETCH_MS_MAX = 30_000;

/** Reads the tools from where the options say. @param isCommand the words are a program and its arguments */
export async function readDraftSource(
  words: readonly string[],
  isCommand: boolean,
  options: SourceOptions,
  terminal: Terminal,
): Promise<DraftSource> {
  if (options.from === 'traffic') return readTraffic(words, options, terminal);
  if (options.from === 'openapi') return readOpenApiSource(words, options, terminal);
  return readMcpSource(words, isCommand, options, terminal);
}

function buildUsageFailure(message: string, hint: string): CommandFailure {
  return new CommandFailure(EXIT.usage, 'usage', message, { hint });
}

async function readMcpSource(
  words: readonly string[],
  isCommand: boolean,
  { prefix, config: configPath }: SourceOptions,
  terminal: Terminal,
): Promise<DraftSource> {
  const [word] = words;
  if (word === undefined || (!isCommand && words.length > 1))
    throw buildUsageFailure(
      '`--from mcp` needs one source.',
      'Give a file, a URL, the name of a configured server, or a command after `--`.',
    );
  const path = resolve(terminal.cwd, word);
  const isFile = !isCommand && !isUrl(word) && existsSync(path);
  const listed = isFile
    ? { answer: parseJson(await readSourceText(path)), toPolicyName: (name: string) => name, server: null }
    : await queryServer(words, isCommand, configPath, terminal);
  const { readToolList } = await import('../../../runtime/policies/contract-draft/read-tool-list.ts');
  const read = readToolList(listed.answer, {
    server: listed.server,
    toCallName: (name) => `${prefix ?? ''}${listed.toPolicyName(name)}`,
  });
  if (!read.ok) throw buildSourceFailure(read.message);
  return { tools: read.tools };
}

function buildSourceFailure(message: string): CommandFailure {
  return new CommandFailure(EXIT.usage, 'invalid_source', `The tools cannot be read. ${message}`);
}

function isUrl(word: string): boolean {
  return /^https?:\/\//i.test(word) && URL.canParse(word);
}

async function queryServer(
  words: readonly string[],
  isCommand: boolean,
  configPath: string | undefined,
  terminal: Terminal,
) {
  const { requireInstalled } = await import('../mcp.ts');
  const { buildUrlSettings, queryTools } = await requireInstalled(
    () => import('../../../gateways/mcp/query-tools.ts'),
  );
  const [word] = words as readonly [string];
  const isAddress = !isCommand && isUrl(word);
  const configured = isCommand || isAddress ? null : await findServer(word, configPath, terminal);
  const target = isAddress ? buildUrlSettings(word) : (configured ?? { name: '', command: words });
  try {
    const parts = { version: getPackageVersion(), env: terminal.env, stderr: 'ignore' as const };
    const { tools, toPolicyName } = await queryTools(target, parts);
    return {
      answer: JSON.parse(JSON.stringify(tools)) as Json,
      toPolicyName,
      server: configured?.name ?? null,
    };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ServerFailure') throw error;
    throw new CommandFailure(
      EXIT.usage,
      'unreachable',
      `The MCP server gave no list of tools. ${error.message}`,
    );
  }
}

async function findServer(name: string, configPath: string | undefined, terminal: Terminal) {
  const { mcp } = await loadCliConfig(terminal, configPath);
  const found = mcp.servers.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw buildUsageFailure(
    'The source is neither a file, nor a URL, nor the name of a server in `mcp.servers`.',
    'To start a program, write it after `--`: `customshouse policy draft --from mcp -- npx -y some-server`.',
  );
}

async function readOpenApiSource(
  words: readonly string[],
  { prefix }: SourceOptions,
  terminal: Terminal,
): Promise<DraftSource> {
  const [word] = words;
  if (word === undefined || words.length > 1)
    throw buildUsageFailure(
      '`--from openapi` needs one source.',
      'Give the file or the URL of an OpenAPI document, version 3.0 or 3.1, as JSON or YAML.',
    );
  const text = isUrl(word)
    ? await fetchText(word, terminal)
    : await readSourceText(resolve(terminal.cwd, word));
  const document = text.trimStart().startsWith('{') ? parseJson(text) : await parseYaml(text);
  const { buildDocumentResolver, readOpenApi } = await import(
    '../../../runtime/policies/contract-draft/read-openapi.ts'
  );
  const read = readOpenApi(document);
  if (!read.ok) throw buildSourceFailure(read.message);
  const tools = read.tools.map((tool) => ({ ...tool, tool_name: `${prefix ?? ''}${tool.tool_name}` }));
  return { tools, resolve: buildDocumentResolver(document) };
}

async function readSourceText(path: string): Promise<string> {
  const read = await readText(path, SOURCE_BYTES_MAX);
  if (read.ok) return read.text;
  throw new CommandFailure(EXIT.usage, 'invalid_source', `The file \`${path}\` ${read.message}.`);
}

async function fetchText(url: string, terminal: Terminal): Promise<string> {
  const client = openHttpClient({ env: terminal.env });
  try {
    const { status, body } = await client.call({
      method: 'GET',
      url,
      headers: { accept: 'application/json, application/yaml' },
      signal: AbortSignal.timeout(FETCH_MS_MAX),
      response_bytes_max: SOURCE_BYTES_MAX,
    });
    if (status !== 200) throw buildSourceFailure(`The address answers with status ${status}.`);
    return body.toString('utf8');
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    throw buildSourceFailure(`The address gave no document (${error.kind}).`);
  } finally {
    await client.close();
  }
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw buildSourceFailure('It is not valid JSON.');
  }
}

async function parseYaml(text: string): Promise<Json> {
  if (text.length > YAML_BYTES_MAX)
    throw buildSourceFailure(`It has more than ${YAML_BYTES_MAX} bytes of YAML. Give it as JSON.`);
  const { readYaml } = await import('../../../runtime/config/yaml-documents.ts');
  const read = await readYaml(text);
  const [document] = read.ok ? read.documents : [];
  if (document === undefined) throw buildSourceFailure('It is not valid YAML.');
  return document.value as Json;
}

/** Tools of recorded calls in one draft, at most. */
const TRAFFIC_TOOLS_MAX = 200;

async function readTraffic(
  words: readonly string[],
  { since, tool: wanted, config }: SourceOptions,
  terminal: Terminal,
): Promise<DraftSource> {
  if (words.length > 0)
    throw buildUsageFailure('`--from traffic` takes no source.', 'Name tools with `--tool`.');
  const last = { last: since as NonNullable<Input<'observeTools'>['last']> };
  const called = wanted ?? (await listCalledTools(last, config, terminal));
  const session = await openOperationSession(terminal, config, 'observe_tool_contract');
  try {
    const tools: ToolDescription[] = [];
    for (const name of [...new Set(called)].sort()) {
      const answer = (await session.run({ tool_name: name, ...last })) as Answer<'observeToolContract'>;
      const contract = answer.contract as JsonObject | null;
      if (contract === null) continue;
      const schema = contract.arguments as JsonObject | undefined;
      tools.push({ ...buildNamedTool(name), input_schema: schema ?? null, observed: answer.observed });
    }
    return { tools };
  } finally {
    await session.close();
  }
}

async function listCalledTools(
  last: { readonly last: string },
  config: string | undefined,
  terminal: Terminal,
): Promise<readonly string[]> {
  const answer = await runSelectedOperation(terminal, config, (of) => of.observeTools, {
    ...last,
    limit: TRAFFIC_TOOLS_MAX,
  });
  return answer.tools.map(({ tool_name }) => tool_name);
}
