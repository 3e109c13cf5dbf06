import { type Client, ProtocolError as TheirError } from '@modelcontextprotocol/client';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../core/types/index.ts';
import { guardContent, removeMeta, replaceUris } from './content.ts';
import { guardRequestWithApproval } from './elicitation.ts';
import { guardInputRequired, guardServerInput, isInputRequired } from './input-required.ts';
import type { PolicyGuard } from './policy-guard.ts';
import { JudgedError, PolicyRefusal } from './policy-refusal.ts';
import { ServerFailure } from './server-failure.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** A list method of the protocol, and the key of its entries. */
export interface ListMethod {
  readonly method: 'resources/list' | 'resources/templates/list' | 'prompts/list';
  readonly key: 'resources' | 'resourceTemplates' | 'prompts';
}

const PAGES_MAX = 100;
const ENTRIES_MAX = 10_000;

type Entry = Readonly<Record<string, unknown>>;

/** Returns the whole list of one server, judged, with the names that agents use. */
export async function listEntries(target: UpstreamServer, listing: ListMethod): Promise<Entry[]> {
  const entries = await readEntries(target, listing);
  return entries.map((entry) => renameEntry(entry, target, listing));
}

async function readEntries(target: UpstreamServer, { method, key }: ListMethod): Promise<Entry[]> {
  const { upstream, guard, naming, list_ms } = target;
  const kind = method.startsWith('prompts') ? 'prompts' : 'resources';
  if ((await upstream.use(async (client) => client.getServerCapabilities()?.[kind])) === undefined) return [];
  const name = naming.toPolicyName(method);
  const requested = await guard.judgeRequest(name, {}, null);
  if ('blocked' in requested) throw new PolicyRefusal(requested.blocked);
  const entries: Entry[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const request = { method, params } as const;
    const answer = (await upstream.use((client) => client.request(request, { timeout: list_ms }))) as Record<
      string,
      unknown
    >;
    const content = removeMeta(answer[key] as Entry[]);
    const stop = await guardContent(guard, name, content);
    if (stop !== null) throw new PolicyRefusal(stop);
    entries.push(...content);
    cursor = typeof answer.nextCursor === 'string' ? answer.nextCursor : undefined;
    if (cursor === undefined) return entries;
    if (entries.length > ENTRIES_MAX) break;
  }
  throw new ServerFailure('endless_list');
}

function renameEntry(entry: Entry, { naming }: UpstreamServer, { key }: ListMethod): Entry {
  switch (key) {
    case 'prompts':
      return { ...entry, name: naming.toAgentName(String(entry.name)) };
    case 'resources':
      return { ...entry, uri: naming.toAgentUri(String(entry.uri)) };
    case 'resourceTemplates':
      return { ...entry, uriTemplate: naming.toAgentUri(String(entry.uriTemplate)) };
  }
}

/** Reads a resource from the server that its URI names. */
export async function readResource(
  targets: readonly UpstreamServer[],
  { uri }: { readonly uri: string },
  server: Server,
  context: ServerContext,
): Promise<object> {
  const { target, server_uri } = findResourceServer(targets, uri);
  const request = (params: object, client: Client) =>
    client.request(
      { method: 'resources/read', params: params as { uri: string } },
      { timeout: target.call_ms, signal: context.mcpReq.signal, allowInputRequired: true },
    );
  return guardAndSend(target, 'resources/read', { uri: server_uri }, request, server, context);
}

/** Returns the server of a resource, and the server's URI. Throws if no server has the resource. */
export function findResourceServer(
  targets: readonly UpstreamServer[],
  uri: string,
): { target: UpstreamServer; server_uri: string } {
  for (const target of targets) {
    const serverUri = target.naming.toServerUri(uri);
    if (serverUri !== null) return { target, server_uri: serverUri };
  }
  throw new PolicyRefusal('No server behind the gateway has such a resource: see `resources/list`.');
}

/** Gets a prompt from the server that its name prefix names. */
export async function getPrompt(
  targets: readonly UpstreamServer[],
  { name, arguments: input }: { readonly name: string; readonly arguments?: Record<string, string> },
  server: Server,
  context: ServerContext,
): Promise<object> {
  const target = targets.find(({ naming }) => name.startsWith(naming.toPolicyName('')));
  const there = target === undefined ? null : await findServerPrompt(target, name);
  if (target === undefined || there === null)
    throw new PolicyRefusal('No server behind the gateway has such a prompt: see `prompts/list`.');
  const requested = { name: there, ...(input !== undefined && { arguments: input }) };
  const request = (params: object, client: Client) =>
    client.request(
      { method: 'prompts/get', params: params as { name: string } },
      { timeout: target.call_ms, signal: context.mcpReq.signal, allowInputRequired: true },
    );
  return guardAndSend(target, 'prompts/get', requested, request, server, context);
}

/** Returns the server's name of a prompt. A shortened name is looked up in the server's list. */
async function findServerPrompt(target: UpstreamServer, name: string): Promise<string | null> {
  const direct = target.naming.toServerName(name);
  if (direct !== null) return direct;
  const prompts = await readEntries(target, { method: 'prompts/list', key: 'prompts' });
  const matching = prompts.filter((prompt) => target.naming.toAgentName(String(prompt.name)) === name);
  return matching.length === 1 ? String(matching[0]!.name) : null;
}

/** Judges a request and its answer as a call of a tool with the method's name. */
async function guardAndSend(
  target: UpstreamServer,
  method: 'resources/read' | 'prompts/get',
  params: JsonObject,
  request: (params: object, client: Client) => Promise<object>,
  server: Server,
  context: ServerContext,
): Promise<object> {
  const { upstream, guard, naming } = target;
  const name = naming.toPolicyName(method);
  const requested = await guardRequestWithApproval(guard, name, params, server, context);
  if ('question' in requested) return requested.question;
  if ('blocked' in requested) throw new PolicyRefusal(requested.blocked);
  const stateful = { server: target.name, name, input: params };
  const given = await guardServerInput(target, stateful, server, context);
  if ('blocked' in given) throw new PolicyRefusal(given.blocked);
  const sent = { ...(requested.value as object), ...given.params, _meta: given.meta };
  const stated = await upstream
    .use((client) => request(sent, client))
    .catch((error: unknown) => throwJudgedError(error, guard, name));
  if (isInputRequired(stated)) {
    const question = await guardInputRequired(target, stateful, stated, context);
    if ('blocked' in question) throw new PolicyRefusal(question.blocked);
    return question.answer;
  }
  const answer = removeMeta(stated);
  const stop = await guardContent(guard, name, answer);
  if (stop !== null) throw new PolicyRefusal(stop);
  return replaceUris(answer, naming);
}

/** Throws a server's error with its code after its message was judged like a result. */
async function throwJudgedError(error: unknown, guard: PolicyGuard, name: string): Promise<never> {
  if (!(error instanceof TheirError)) throw error;
  const stated = { message: error.message };
  const stop = await guardContent(guard, name, stated);
  throw stop === null ? new JudgedError(error.code, stated.message) : new PolicyRefusal(stop);
}
