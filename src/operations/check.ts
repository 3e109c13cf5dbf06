import { createContent } from '../core/json/source.ts';
import { findParsedText, findValueMemberSource, getContentValue } from '../core/json/value-source.ts';
import { walkJson } from '../core/json/walk.ts';
import type { Content, Crossing, Json, Tag } from '../core/types/index.ts';
import type { Ruling } from '../runtime/enforcement/types.ts';
import type { Endpoint } from '../runtime/observability/endpoint.ts';
import { type Context, Refusal } from './operation.ts';
import { buildVerdictReply, findChangedContent, type VerdictReply } from './reply.ts';
import { readName } from './subject.ts';

/** A check: what crosses, and under which name it is counted. */
export interface CheckRequest {
  readonly crossing: Crossing;
  readonly endpoint: Endpoint;
  /** Whether the answer may hold what was matched. */
  readonly matches: boolean;
  /** The request that was approved for this. */
  readonly approval_request_id?: string | null | undefined;
  /** Whether one that was answered for exactly this counts where none is named. */
  readonly reuse_approval?: boolean;
}

/** The answer, the content to use instead or `null`, and what only some operations show. */
export interface CheckResult {
  readonly reply: VerdictReply;
  readonly changed: Content | null;
  readonly stripped_fields: readonly string[];
  readonly data_tags: readonly Tag[];
}

/** Brings a crossing to the road and its verdict back. */
export function check(
  { crossing, endpoint, matches, approval_request_id, reuse_approval = false }: CheckRequest,
  { runtime, caller }: Context,
): Promise<CheckResult> {
  const checkedOf = (ruling: Ruling): CheckResult => ({
    reply: buildVerdictReply(ruling, crossing, matches),
    changed: findChangedContent(ruling.verdict),
    stripped_fields: ruling.verdict.stripped_fields,
    data_tags: ruling.verdict.data_tags,
  });
  const extras = reuse_approval ? { reuse_approval } : {};
  return runtime.enforce(crossing, caller, endpoint, readName(approval_request_id), extras).then(checkedOf);
}

/** Returns the value of a content, which a transport writes as its own text, digit for digit. */
export function readContentValue(content: Content): unknown {
  return getContentValue(content);
}

/**
 * Returns the content of a member of an input, judged in the text that was sent.
 * @throws Refusal if the text around it is so large that nobody can tell
 */
export function readContentMember(input: object, name: string, { runtime }: Context): Content {
  const value = (input as Readonly<Record<string, Json>>)[name] as Json;
  if (typeof value === 'string') return { kind: 'text', text: value };
  const { limits } = runtime.policy();
  const around = { depth_max: limits.depth_max + 1, nodes_max: limits.nodes_max + NODES_AROUND };
  const source = findValueMemberSource(input as Json, name, around);
  if (source === null && findParsedText(input as Json) !== null && walkJson(value, limits, () => {}) === null)
    throw new Refusal('invalid_request', `The body has too many values next to \`${name}\`.`);
  return createContent(value, source);
}

/** JSON values that a body may have beside what is judged. */
const NODES_AROUND = 5_000;
