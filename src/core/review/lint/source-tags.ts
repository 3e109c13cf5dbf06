import { covers, listLimitingTags } from '../../tags.ts';
import type { Policy } from '../../types/index.ts';
import type { LintRemark } from './remark.ts';

/** Returns remarks on contracts whose `emits.tags` mark a private source, and therefore limit no result. */
export function findSourceTagRemarks({ contracts }: Policy): readonly LintRemark[] {
  return contracts
    .filter(({ emits }) => listLimitingTags(emits.tags) === null && emits.tags?.some(isPrivate))
    .map((contract) => ({
      id: 'tags-mark-only',
      record: contract,
      part: 'emits.tags',
      message: `The contract of \`${contract.tool_name}\` emits source tags only, so they mark the session and do not limit the result. To limit it, add the tags that it may carry.`,
    }));
}

function isPrivate(tag: string): boolean {
  return covers('private', tag);
}
