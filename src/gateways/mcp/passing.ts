import { type Client, ProtocolError as TheirError } from '@modelcontextprotocol/client';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import type { Json } from '../../core/types/index.ts';
import type { Behind } from './behind.ts';
import { guardContent, withoutMeta, withShownUris } from './content.ts';
import { BehindFailure } from './failure.ts';
import type { Guard } from './guard.ts';
import { guardInputRequired, isInputRequired, serverInput } from './input-required.ts';
import { requestOf } from './persons.ts';
import { JudgedError, Refused } from './refused.ts';

/** A list of the protocol, and under which key its entries are. */
export interface Listing {
  readonly method: 'resources/list' | 'resources/templates/list' | 'prompts/list';
  readonly key: 'resources' | 'resourceTemplates' | 'prompts';
}

const PAGES_MAX = 100;
const ENTRIES_MAX = 10_000;

type Entry = Readonly<Record<string, unknown>>;

/** All of a list of one server, judged, under the names that agents know. */
export async function listed(behind: Behind, listing: Listing): Promise<Entry[]> {
  const entries = await entriesOf(behind, listing);
  return entries.map((entry) => shownEntry(entry, behind, listing));
}

async function entriesOf(behind: Behind, { method, key }: Listing): Promise<Entry[]> {
  const { upstream, guard, naming, list_ms } = behind;
  const kind = method.startsWith('prompts') ? 'prompts' : 'resources';
  if ((await upstream.use(async (client) => client.getServerCapabilities()?.[kind])) === undefined) return [];
  const name = naming.judged(method);
  const asked = await guard.request(name, {}, null);
  if ('blocked' in asked) throw new Refused(asked.blocked);
  const entries: Entry[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const request = { method, params } as const;
    const answer = (await upstream.use((client) => client.request(request, { timeout: list_ms }))) as Record<
      string,
      unknown
    >;
    const content = withoutMeta(answer[key] as Entry[]);
    const stop = await guardContent(guard, name, content);
    if (stop !== null) throw new Refused(stop);
    entries.push(...content);
    cursor = typeof answer.nextCursor === 'string' ? answer.nextCursor : undefined;
    if (cursor === undefined) return entries;
    if (entries.length > ENTRIES_MAX) break;
  }
  throw new BehindFailure('endless');
}

function shownEntry(entry: Entry, { naming }: Behind, { key }: Listing): Entry {
  switch (key) {
    case 'prompts':
      return { ...entry, name: naming.shown(String(entry.name)) };
    case 'resources':
      return { ...entry, uri: naming.uriShown(String(entry.uri)) };
    case 'resourceTemplates':
      return { ...entry, uriTemplate: naming.uriShown(String(entry.uriTemplate)) };
  }
}

/** Reads a resource, of whichever server it is. */
export async function readResource(
  behinds: readonly Behind[],
  { uri }: { readonly uri: string },
  server: Server,
  context: ServerContext,
): Promise<object> {
  const { behind, there } = holderOf(behinds, uri);
  const request = (params: object, client: Client) =>
    client.request(
      { method: 'resources/read', params: params as { uri: string } },
      { timeout: behind.call_ms, signal: context.mcpReq.signal, allowInputRequired: true },
    );
  return pass(behind, 'resources/read', { uri: there }, request, server, context);
}

/** The server that has a resource, and what it calls it. */
export function holderOf(behinds: readonly Behind[], uri: string): { behind: Behind; there: string } {
  for (const behind of behinds) {
    const there = behind.naming.uriThere(uri);
    if (there !== null) return { behind, there };
  }
  throw new Refused('No server behind the gateway has such a resource: see `resources/list`.');
}

/** Gets a prompt, of whichever server it is. */
export async function shownPrompt(
  behinds: readonly Behind[],
  { name, arguments: input }: { readonly name: string; readonly arguments?: Record<string, string> },
  server: Server,
  context: ServerContext,
): Promise<object> {
  const behind = behinds.find(({ naming }) => name.startsWith(naming.judged('')));
  const there = behind === undefined ? null : await promptThere(behind, name);
  if (behind === undefined || there === null)
    throw new Refused('No server behind the gateway has such a prompt: see `prompts/list`.');
  const asked = { name: there, ...(input !== undefined && { arguments: input }) };
  const request = (params: object, client: Client) =>
    client.request(
      { method: 'prompts/get', params: params as { name: string } },
      { timeout: behind.call_ms, signal: context.mcpReq.signal, allowInputRequired: true },
    );
  return pass(behind, 'prompts/get', asked, request, server, context);
}

/** What the server calls a prompt; one whose name was cut is looked for in its list. */
async function promptThere(behind: Behind, name: string): Promise<string | null> {
  const direct = behind.naming.there(name);
  if (direct !== null) return direct;
  const prompts = await entriesOf(behind, { method: 'prompts/list', key: 'prompts' });
  const meant = prompts.filter((prompt) => behind.naming.shown(String(prompt.name)) === name);
  return meant.length === 1 ? String(meant[0]!.name) : null;
}

/** A request and its answer, judged as a call of a tool that is named like the method. */
async function pass(
  behind: Behind,
  method: 'resources/read' | 'prompts/get',
  params: Json,
  request: (params: object, client: Client) => Promise<object>,
  server: Server,
  context: ServerContext,
): Promise<object> {
  const { upstream, guard, naming } = behind;
  const name = naming.judged(method);
  const asked = await requestOf(guard, name, params, server, context);
  if ('question' in asked) return asked.question;
  if ('blocked' in asked) throw new Refused(asked.blocked);
  const given = await serverInput(behind, server, context);
  if ('blocked' in given) throw new Refused(given.blocked);
  const sent = { ...(asked.value as object), ...given.params, _meta: given.meta };
  const said = await upstream
    .use((client) => request(sent, client))
    .catch((error: unknown) => judgedError(error, guard, name));
  if (isInputRequired(said)) {
    const question = await guardInputRequired(behind, name, said);
    if ('blocked' in question) throw new Refused(question.blocked);
    return question.answer;
  }
  const answer = withoutMeta(said);
  const stop = await guardContent(guard, name, answer);
  if (stop !== null) throw new Refused(stop);
  return withShownUris(answer, naming);
}

/** What a server says of a request that it refuses is judged like a result, and told with its code. */
async function judgedError(error: unknown, guard: Guard, name: string): Promise<never> {
  if (!(error instanceof TheirError)) throw error;
  const said = { message: error.message };
  const stop = await guardContent(guard, name, said);
  throw stop === null ? new JudgedError(error.code, said.message) : new Refused(stop);
}
