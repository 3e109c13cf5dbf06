import type { Content, Crossing, Tag } from '../core/types.ts';
import type { Endpoint, Ruling } from '../runtime/types.ts';
import type { Context } from './operation.ts';
import { changedContent, replyOf, type VerdictReply } from './reply.ts';
import { named } from './subject.ts';

/** A check: what crosses, and under which name it is counted. */
export interface Check {
  readonly crossing: Crossing;
  readonly endpoint: Endpoint;
  /** Whether the answer may hold what was matched. */
  readonly matches: boolean;
  /** The request that was approved for this. */
  readonly approval_request_id?: string | null | undefined;
  /** Whether one that was answered for exactly this counts where none is named. */
  readonly finds_approved?: boolean;
}

/** The answer, the content to use instead or `null`, and what only some operations show. */
export interface Checked {
  readonly reply: VerdictReply;
  readonly changed: Content | null;
  readonly stripped_fields: readonly string[];
  readonly data_tags: readonly Tag[];
}

/** Brings a crossing to the road and its verdict back. */
export function check(
  { crossing, endpoint, matches, approval_request_id, finds_approved = false }: Check,
  { runtime, caller }: Context,
): Promise<Checked> {
  const checkedOf = (ruling: Ruling): Checked => ({
    reply: replyOf(ruling, crossing, matches),
    changed: changedContent(ruling.verdict),
    stripped_fields: ruling.verdict.stripped_fields,
    data_tags: ruling.verdict.data_tags,
  });
  const extras = finds_approved ? { finds_approved } : {};
  return runtime.enforce(crossing, caller, endpoint, named(approval_request_id), extras).then(checkedOf);
}

/** The plain value of a content, as JSON shows it. */
export function plain(content: Content): unknown {
  return content.kind === 'text' ? content.text : content.value;
}
