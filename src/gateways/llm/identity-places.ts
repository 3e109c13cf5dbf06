import type { Crossing } from '../../core/types/index.ts';
import type { WireText } from '../../core/wire/wire-format.ts';

/** A trailer of a commit message (git-interpret-trailers) that ends in a name and an address. */
const TRAILER =
  /\b(?:co-authored-by|signed-off-by|assisted-by|generated-by):[ \t]{1,4}[^\n<>@]{1,60}<([\w.+-]{1,64}@[a-z0-9.-]{1,100})>/gi;

/** The mailbox names that no user reads. Built-in detectors ignore them; classifiers and custom detectors may not. */
const NO_REPLY = /^(?:no-?reply|do-?not-?reply)@/i;

/**
 * GitHub's own no-reply addresses. They contain a user name: an agent's in its instructions, elsewhere possibly a
 * user's.
 */
const GITHUB_NO_REPLY = /^\d{1,12}\+[\w.[\]-]{1,40}@users\.noreply\.github\.com$/i;

/**
 * Finds the addresses with which coding agents sign commits, such as `Co-Authored-By: Claude
 * <noreply@anthropic.com>`. Agents instruct their models to write these lines, so masking them would change every
 * commit. A place covers the address only.
 */
export function findIdentityPlaces(
  texts: readonly Pick<WireText, 'role' | 'node'>[],
): NonNullable<Crossing['identity_places']> {
  return texts.flatMap(({ role, node }, leaf) => {
    const isInstruction = role === 'system' || role === 'tool_definition';
    return [...node.value.matchAll(TRAILER)].flatMap((trailer) => {
      const address = trailer[1]!;
      if (!NO_REPLY.test(address) && !(isInstruction && GITHUB_NO_REPLY.test(address))) return [];
      const end = trailer.index + trailer[0].length - 1;
      return [{ leaf, start: end - address.length, end }];
    });
  });
}
