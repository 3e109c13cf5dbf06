import { createContent } from '../core/json/source.ts';
import {
  findParsedText,
  findValueMemberSource,
  findValueSource,
  getContentValue,
} from '../core/json/value-source.ts';
import { walkJson } from '../core/json/walk.ts';
import type { Content, Crossing, Json } from '../core/types/index.ts';
import type { Ruling } from '../runtime/enforcement/types.ts';
import type { Endpoint } from '../runtime/observability/endpoint.ts';
import { type Context, Refusal } from './operation.ts';
import { dropBlankName } from './subject.ts';

/** A check: the crossing to judge, and the name under which it is counted. */
export interface CheckRequest {
  readonly crossing: Crossing;
  readonly endpoint: Endpoint;
  /** The approved request that this check uses. */
  readonly approval_request_id?: string | null | undefined;
  /** `true` if an approval of exactly this content counts even if no request is named. */
  readonly reuse_approval?: boolean;
}

/** Enforces the policy on a crossing for an operation's caller. */
export function runCheck(
  { crossing, endpoint, approval_request_id, reuse_approval = false }: CheckRequest,
  { runtime, caller }: Context,
): Promise<Ruling> {
  const extras = reuse_approval ? { reuse_approval } : {};
  return runtime.enforce(crossing, caller, endpoint, dropBlankName(approval_request_id), extras);
}

/** Returns the value of a content. A transport writes it as its original text, digit for digit. */
export function readContentValue(content: Content): Json {
  return getContentValue(content);
}

/**
 * Returns a member of an input as content, with its original text.
 * @throws Refusal if the rest of the input is too large to find that text
 */
export function readContentMember(input: object, name: string, { runtime }: Context): Content {
  const value = (input as Readonly<Record<string, Json>>)[name] as Json;
  if (typeof value === 'string') return { kind: 'text', text: value };
  const { limits } = runtime.policy();
  const around = { depth_max: limits.depth_max + 1, nodes_max: limits.nodes_max + NODES_AROUND };
  const source = findValueMemberSource(input as Json, name, around) ?? findValueSource(value, limits);
  if (source === null && findParsedText(input as Json) !== null && walkJson(value, limits, () => {}) === null)
    throw new Refusal('invalid_request', `The body has too many values next to \`${name}\`.`);
  return createContent(value, source);
}

/** Maximum number of JSON values in a body in addition to the content that is judged. */
const NODES_AROUND = 5_000;
