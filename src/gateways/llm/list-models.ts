import { parseJsonTree } from '../../core/json/json-tree.ts';
import type { JsonNode } from '../../core/types/json.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import type { UpstreamAnswer, UpstreamRequest, Upstreams } from '../upstream/types.ts';
import { collected } from './answer-call.ts';
import type { LlmReply, ModelsAsked } from './call.ts';
import { isPlainWord } from './clean-words.ts';
import { errorOfFailure, unreadable } from './faults.ts';
import { errorReply, givenHeaders, requestIdHeaders } from './reply.ts';

/** How long one of several providers may take for its list, in milliseconds. */
const LIST_MS_MAX = 3_000;
/** The longest list of one provider, in bytes. */
const LIST_BYTES_MAX = 4_194_304;
/** Anthropic's largest page. */
const PAGE_MAX = 1_000;

export interface ModelsParts {
  readonly upstreams: Upstreams;
  readonly policy: EnforcementPorts['policy'];
  /** Bound of an answer that is passed on, in bytes. */
  readonly bytes_max: number;
}

type Family = 'openai' | 'anthropic';

/** One model of the merged list: the JSON text of its object. */
interface ListedModel {
  readonly id: string;
  readonly text: string;
}

/** Answers a request for the models that a client may ask for, or for one of them. */
export async function answerModels(asked: ModelsAsked, parts: ModelsParts): Promise<LlmReply> {
  const family = asked.format.family === 'anthropic' ? 'anthropic' : 'openai';
  try {
    if (asked.model !== null) return await answerModel(asked, asked.model, family, parts);
    const { catalogue } = parts.upstreams;
    const aliases = catalogue.aliases(family);
    const providers = catalogue.providers(family);
    // A single list goes back as its provider writes it, errors included.
    if (aliases.length === 0 && providers.length < 2) return await passedOn(requestFor(asked, family), parts);
    return await mergedList(asked, { aliases, providers, family }, parts);
  } catch (fault) {
    return errorReply(asked.format, errorOfFailure(fault, asked.request_id));
  }
}

async function answerModel(
  asked: ModelsAsked,
  model: string,
  family: Family,
  parts: ModelsParts,
): Promise<LlmReply> {
  const { upstreams, policy } = parts;
  if (upstreams.catalogue.aliases(family).includes(model))
    return jsonReply(asked, JSON.stringify(aliasObject(model, family)));
  // The name is a text of the client's, and goes to a provider.
  if (!isPlainWord(model, policy)) return errorReply(asked.format, unknownModel(asked.request_id));
  const path = `/v1/models/${encodeURIComponent(model)}${queryOf(asked.path)}`;
  return passedOn({ ...requestFor(asked, family), path, model }, parts);
}

function unknownModel(request_id: string) {
  return { status: 404, code: 'model_not_found', message: 'There is no such model.', request_id, extra: {} };
}

function requestFor({ path, headers, signal }: ModelsAsked, family: Family): UpstreamRequest {
  return {
    wire: `${family}.models`,
    method: 'GET',
    path,
    headers,
    model: null,
    bodyFor: () => null,
    affinity: null,
    signal,
  };
}

async function passedOn(request: UpstreamRequest, { upstreams, bytes_max }: ModelsParts): Promise<LlmReply> {
  const answer = await upstreams.send(request);
  return { ...headOf(answer), body: await collected(answer, bytes_max) };
}

function headOf({ status, headers }: UpstreamAnswer): Pick<LlmReply, 'status' | 'headers'> {
  return { status, headers: givenHeaders(headers) };
}

interface Merge {
  readonly aliases: readonly string[];
  readonly providers: readonly string[];
  readonly family: Family;
}

/** All providers are asked at once. One that fails is left out; if nothing is left, the first failure is the answer. */
async function mergedList(asked: ModelsAsked, merge: Merge, parts: ModelsParts): Promise<LlmReply> {
  const { aliases, providers, family } = merge;
  const lists = await Promise.all(providers.map((name) => listOf(asked, name, family, parts)));
  const found = lists.filter((list) => Array.isArray(list));
  const [first] = lists;
  if (aliases.length === 0 && found.length === 0 && first !== undefined && !Array.isArray(first)) {
    if (first instanceof Error) throw first;
    return first as LlmReply;
  }
  const models = new Map<string, ListedModel>();
  for (const name of aliases) models.set(name, { id: name, text: JSON.stringify(aliasObject(name, family)) });
  for (const model of found.flat()) if (!models.has(model.id)) models.set(model.id, model);
  return jsonReply(asked, listText([...models.values()], family, asked.path));
}

/** Returns the models of one provider that calls for it reach there, or why there are none. */
async function listOf(
  asked: ModelsAsked,
  provider: string,
  family: Family,
  { upstreams, policy, bytes_max }: ModelsParts,
): Promise<readonly ListedModel[] | LlmReply | Error> {
  const path = family === 'anthropic' ? `/v1/models?limit=${PAGE_MAX}` : `/v1/models${queryOf(asked.path)}`;
  const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(LIST_MS_MAX)]);
  try {
    const answer = await upstreams.send({ ...requestFor(asked, family), path, provider, signal });
    const body = await collected(answer, Math.min(bytes_max, LIST_BYTES_MAX));
    if (answer.status !== 200) return { ...headOf(answer), body };
    const text = body.toString('utf8');
    const node = parseJsonTree(text, policy.limits);
    const items = node.kind === 'problem' ? null : itemsOf(node);
    if (items === null) return unreadable('The list of models of the provider cannot be read.');
    return items
      .flatMap((item) => listed(item, text))
      .filter(({ id }) => upstreams.catalogue.routes(id, provider, family));
  } catch (fault) {
    errorOfFailure(fault, asked.request_id);
    return fault as Error;
  }
}

/** Some servers answer with a bare array. */
function itemsOf(node: JsonNode): readonly JsonNode[] | null {
  if (node.kind === 'array') return node.items;
  if (node.kind !== 'object') return null;
  const data = node.members.filter(({ key }) => key.value === 'data');
  return data.length === 1 && data[0]!.value.kind === 'array' ? data[0]!.value.items : null;
}

function listed(item: JsonNode, text: string): readonly ListedModel[] {
  if (item.kind !== 'object') return [];
  const ids = item.members.filter(({ key }) => key.value === 'id').map(({ value }) => value);
  const [id] = ids;
  if (ids.length !== 1 || id?.kind !== 'string' || id.value === '') return [];
  return [{ id: id.value, text: text.slice(item.start, item.end) }];
}

/** Nothing is known of when a model behind an alias was made: both APIs write that as the beginning of 1970. */
function aliasObject(id: string, family: Family): object {
  return family === 'anthropic'
    ? { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }
    : { id, object: 'model', created: 0, owned_by: 'proxy' };
}

function listText(models: readonly ListedModel[], family: Family, path: string): string {
  if (family === 'openai') return `{"object":"list","data":[${joined(models)}]}`;
  const page = pageOf(models, new URLSearchParams(queryOf(path)));
  const { data, has_more } = page;
  const ends = { has_more, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return `{"data":[${joined(data)}],${JSON.stringify(ends).slice(1)}`;
}

function joined(models: readonly ListedModel[]): string {
  return models.map(({ text }) => text).join(',');
}

/** A page as Anthropic's API cuts it, except that without `limit` it holds all. */
function pageOf(
  models: readonly ListedModel[],
  query: URLSearchParams,
): { readonly data: readonly ListedModel[]; readonly has_more: boolean } {
  const placeOf = (name: string): number => models.findIndex(({ id }) => id === query.get(name));
  const written = query.get('limit');
  const limit = written !== null && /^[1-9]\d{0,3}$/.test(written) ? Number(written) : models.length;
  const before = placeOf('before_id');
  if (before !== -1) {
    const from = Math.max(0, before - limit);
    return { data: models.slice(from, before), has_more: from > 0 };
  }
  const rest = models.slice(placeOf('after_id') + 1);
  return { data: rest.slice(0, limit), has_more: rest.length > limit };
}

function queryOf(path: string): string {
  const at = path.indexOf('?');
  return at === -1 ? '' : path.slice(at);
}

function jsonReply({ format, request_id }: ModelsAsked, body: string): LlmReply {
  return {
    status: 200,
    headers: ['content-type', 'application/json', ...requestIdHeaders(format, request_id)],
    body,
  };
}
