import type { Crossing } from '../../core/types/index.ts';
import type { WireText } from '../../core/wire/wire-format.ts';

/** A trailer of a commit message (git-interpret-trailers) that ends in a name and an address. */
const TRAILER =
  /\b(?:co-authored-by|signed-off-by|assisted-by|generated-by):[ \t]{1,4}[^\n<>@]{1,60}<([\w.+-]{1,64}@[a-z0-9.-]{1,100})>/gi;

/** Mailboxes that nobody reads. */
const NO_REPLY = /^(?:no-?reply|do-?not-?reply)@/i;

/** GitHub's own no-reply addresses hold a user name: an agent's in its instructions, and else perhaps a person's. */
const GITHUB_NO_REPLY = /^\d{1,12}\+[\w.[\]-]{1,40}@users\.noreply\.github\.com$/i;

/**
 * Finds the addresses by which coding agents sign commits, such as `Co-Authored-By: Claude <noreply@anthropic.com>`. Agents tell
 * their models to write these lines, so that masking them changes every commit. The places hold the address alone.
 */
export function findIdentityPlaces(
  texts: readonly Pick<WireText, 'role' | 'node'>[],
): NonNullable<Crossing['identity_places']> {
  return texts.flatMap(({ role, node }, leaf) => {
    const is_instruction = role === 'system' || role === 'tool_definition';
    return [...node.value.matchAll(TRAILER)].flatMap((trailer) => {
      const address = trailer[1]!;
      if (!NO_REPLY.test(address) && !(is_instruction && GITHUB_NO_REPLY.test(address))) return [];
      const end = trailer.index + trailer[0].length - 1;
      return [{ leaf, start: end - address.length, end }];
    });
  });
}
