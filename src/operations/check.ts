import { createContent } from '../core/json/source.ts';
import {
  findParsedText,
  findValueMemberSource,
  findValueSource,
  getContentValue,
} from '../core/json/value-source.ts';
import { walkJson } from '../core/json/walk.ts';
import type { Content, Crossing, Json, Tag } from '../core/types/index.ts';
import type { Ruling } from '../runtime/enforcement/types.ts';
import type { Endpoint } from '../runtime/observability/endpoint.ts';
import { type Context, Refusal } from './operation.ts';
import { buildVerdictReply, findChangedContent, type VerdictReply } from './reply.ts';
import { dropBlankName } from './subject.ts';

/** A check: the crossing to judge, and the name under which it is counted. */
export interface CheckRequest {
  readonly crossing: Crossing;
  readonly endpoint: Endpoint;
  /** `true` if the answer may contain the matched text. */
  readonly matches: boolean;
  /** The approved request that this check uses. */
  readonly approval_request_id?: string | null | undefined;
  /** `true` if an approval of exactly this content counts even if no request is named. */
  readonly reuse_approval?: boolean;
}

/** The answer, the replacement content or `null`, and members that only some operations return. */
export interface CheckResult {
  readonly reply: VerdictReply;
  readonly changed: Content | null;
  readonly stripped_fields: readonly string[];
  readonly data_tags: readonly Tag[];
}

/** Enforces the policy on a crossing and builds the answer from the ruling. */
export function runCheck(
  { crossing, endpoint, matches, approval_request_id, reuse_approval = false }: CheckRequest,
  { runtime, caller }: Context,
): Promise<CheckResult> {
  const checkedOf = (ruling: Ruling): CheckResult => ({
    reply: buildVerdictReply({ ruling, crossing }, matches),
    changed: findChangedContent(ruling.verdict),
    stripped_fields: ruling.verdict.stripped_fields,
    data_tags: ruling.verdict.data_tags,
  });
  const extras = reuse_approval ? { reuse_approval } : {};
  return runtime
    .enforce(crossing, caller, endpoint, dropBlankName(approval_request_id), extras)
    .then(checkedOf);
}

/** Returns the value of a content. A transport writes it as its original text, digit for digit. */
export function readContentValue(content: Content): unknown {
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
