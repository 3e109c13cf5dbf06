import { parseJsonTree } from '../../core/json/json-tree.ts';
import type { JsonNode } from '../../core/types/json.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import type { UpstreamAnswer, UpstreamRequest, Upstreams } from '../upstream/types.ts';
import { buildFailureError, buildUnreadableFailure } from './call-errors.ts';
import { hasNoFindings } from './identifier-checks.ts';
import type { LlmReply, ModelListRequest } from './llm-call.ts';
import { collectBody } from './relay-answer.ts';
import { buildErrorReply, buildProviderHeaders, buildRequestIdHeaders } from './reply.ts';

/** The time limit for each list if several are merged, in milliseconds. */
const LIST_MS_MAX = 3_000;
/** The longest list of one provider, in bytes. */
const LIST_BYTES_MAX = 4_194_304;
/** Anthropic's largest page. */
const PAGE_MAX = 1_000;

/** The dependencies of model lists. */
export interface ModelListParts {
  readonly upstreams: Upstreams;
  readonly policy: EnforcementPorts['policy'];
  /** The maximum size of an answer that is forwarded, in bytes. */
  readonly bytes_max: number;
}

type Family = 'openai' | 'anthropic';

/** One model of the merged list: the JSON text of its object. */
interface ListedModel {
  readonly id: string;
  readonly text: string;
}

/** Answers a request for the models that a client may ask for, or for one of them. */
export async function answerModelRequest(
  requested: ModelListRequest,
  parts: ModelListParts,
): Promise<LlmReply> {
  const family = requested.format.family === 'anthropic' ? 'anthropic' : 'openai';
  try {
    if (requested.model !== null) return await answerModel(requested, requested.model, family, parts);
    const { catalogue } = parts.upstreams;
    const aliases = catalogue.aliases(family);
    const providers = catalogue.providers(family);
    // A single list is returned as its provider sends it, errors included.
    if (aliases.length === 0 && providers.length < 2)
      return await passThrough(requested, buildListRequest(requested, family), parts);
    return await mergeLists(requested, { aliases, providers, family }, parts);
  } catch (fault) {
    return buildErrorReply(requested.format, buildFailureError(fault, requested.request_id));
  }
}

async function answerModel(
  requested: ModelListRequest,
  model: string,
  family: Family,
  parts: ModelListParts,
): Promise<LlmReply> {
  const { upstreams, policy } = parts;
  if (upstreams.catalogue.aliases(family).includes(model))
    return buildJsonReply(requested, JSON.stringify(buildAliasObject(model, family)));
  // The client's text goes to a provider, so it must have no findings.
  if (!hasNoFindings(model, policy))
    return buildErrorReply(requested.format, buildUnknownModelError(requested.request_id));
  const path = `/v1/models/${encodeURIComponent(model)}${readQuery(requested.path)}`;
  return passThrough(requested, { ...buildListRequest(requested, family), path, model }, parts);
}

function buildUnknownModelError(requestId: string) {
  return {
    status: 404,
    code: 'model_not_found',
    message: 'There is no such model.',
    request_id: requestId,
    extra: {},
  };
}

function buildListRequest({ path, headers, signal }: ModelListRequest, family: Family): UpstreamRequest {
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

async function passThrough(
  requested: ModelListRequest,
  request: UpstreamRequest,
  { upstreams, bytes_max }: ModelListParts,
): Promise<LlmReply> {
  const answer = await upstreams.send(request);
  return { ...buildHead(answer, requested), body: await collectBody(answer, bytes_max) };
}

function buildHead(
  { status, headers }: UpstreamAnswer,
  { request_id }: ModelListRequest,
): Pick<LlmReply, 'status' | 'headers'> {
  return { status, headers: buildProviderHeaders(headers, request_id) };
}

interface Merge {
  readonly aliases: readonly string[];
  readonly providers: readonly string[];
  readonly family: Family;
}

/**
 * Merges the lists of all providers, which are queried in parallel. A failed list is omitted. If no list is left, the
 * first failure is returned.
 */
async function mergeLists(
  requested: ModelListRequest,
  merge: Merge,
  parts: ModelListParts,
): Promise<LlmReply> {
  const { aliases, providers, family } = merge;
  const lists = await Promise.all(providers.map((name) => readProviderList(requested, name, family, parts)));
  const found = lists.filter((list) => Array.isArray(list));
  const [first] = lists;
  if (aliases.length === 0 && found.length === 0 && first !== undefined && !Array.isArray(first)) {
    if (first instanceof Error) throw first;
    return first as LlmReply;
  }
  const models = new Map<string, ListedModel>();
  for (const name of aliases)
    models.set(name, { id: name, text: JSON.stringify(buildAliasObject(name, family)) });
  for (const model of found.flat()) if (!models.has(model.id)) models.set(model.id, model);
  return buildJsonReply(requested, formatList([...models.values()], family, requested.path));
}

/** Returns the models of one provider that calls for them are routed to, or the failure. */
async function readProviderList(
  requested: ModelListRequest,
  provider: string,
  family: Family,
  { upstreams, policy, bytes_max }: ModelListParts,
): Promise<readonly ListedModel[] | LlmReply | Error> {
  const path =
    family === 'anthropic' ? `/v1/models?limit=${PAGE_MAX}` : `/v1/models${readQuery(requested.path)}`;
  const signal = AbortSignal.any([requested.signal, AbortSignal.timeout(LIST_MS_MAX)]);
  try {
    const answer = await upstreams.send({ ...buildListRequest(requested, family), path, provider, signal });
    const body = await collectBody(answer, Math.min(bytes_max, LIST_BYTES_MAX));
    if (answer.status !== 200) return { ...buildHead(answer, requested), body };
    const text = body.toString('utf8');
    const node = parseJsonTree(text, policy.limits);
    const items = node.kind === 'problem' ? null : findItems(node);
    if (items === null) return buildUnreadableFailure('The list of models of the provider cannot be read.');
    return items
      .flatMap((item) => parseListedModel(item, text))
      .filter(({ id }) => upstreams.catalogue.routes(id, provider, family));
  } catch (fault) {
    buildFailureError(fault, requested.request_id);
    return fault as Error;
  }
}

/** Some servers answer with a bare array. */
function findItems(node: JsonNode): readonly JsonNode[] | null {
  if (node.kind === 'array') return node.items;
  if (node.kind !== 'object') return null;
  const data = node.members.filter(({ key }) => key.value === 'data');
  return data.length === 1 && data[0]!.value.kind === 'array' ? data[0]!.value.items : null;
}

function parseListedModel(item: JsonNode, text: string): readonly ListedModel[] {
  if (item.kind !== 'object') return [];
  const ids = item.members.filter(({ key }) => key.value === 'id').map(({ value }) => value);
  const [id] = ids;
  if (ids.length !== 1 || id?.kind !== 'string' || id.value === '') return [];
  return [{ id: id.value, text: text.slice(item.start, item.end) }];
}

/** Builds the object of an alias. The creation date is unknown, so it is 1970-01-01. */
function buildAliasObject(id: string, family: Family): object {
  return family === 'anthropic'
    ? { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }
    : { id, object: 'model', created: 0, owned_by: 'proxy' };
}

function formatList(models: readonly ListedModel[], family: Family, path: string): string {
  if (family === 'openai') return `{"object":"list","data":[${joinModels(models)}]}`;
  const page = cutPage(models, new URLSearchParams(readQuery(path)));
  const { data, has_more } = page;
  const ends = { has_more, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return `{"data":[${joinModels(data)}],${JSON.stringify(ends).slice(1)}`;
}

function joinModels(models: readonly ListedModel[]): string {
  return models.map(({ text }) => text).join(',');
}

/** Cuts a page as Anthropic's API does, except that without `limit` a page holds all models. */
function cutPage(
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

function readQuery(path: string): string {
  const at = path.indexOf('?');
  return at === -1 ? '' : path.slice(at);
}

function buildJsonReply({ format, request_id }: ModelListRequest, body: string): LlmReply {
  return {
    status: 200,
    headers: ['content-type', 'application/json', ...buildRequestIdHeaders(format, request_id)],
    body,
  };
}
