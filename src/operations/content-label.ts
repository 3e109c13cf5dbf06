import { hash } from 'node:crypto';
import { Type } from '../core/schema.ts';
import type { Content, Label } from '../core/types/index.ts';
import { type Context, Refusal } from './operation.ts';
import { dropBlankName } from './subject.ts';

const UNTRUSTED = 'untrusted(?:\\.[a-z0-9_-]+)+';

/** A text's author, as its caller states. */
export const contentOrigin = Type.Nullable(
  Type.String({ maxLength: 128, pattern: `^(?:user|operator|${UNTRUSTED})?$` }),
  {
    description:
      'Whose words the text is: `user` (a person; needs the permission `prompts:speak` and a `session_id`), `operator` (a prompt that `flow.operator_prompts` lists), or `untrusted.<name>`. Without it, its values permit nothing.',
  },
);

/**
 * Returns the label that a caller states for a text, as a member of its crossing.
 * @throws Refusal if the caller may not state it
 */
export function resolveContentLabel(
  origin: string | null | undefined,
  { content, session_id }: { readonly content: Content; readonly session_id: string | null },
  { caller, runtime }: Context,
): { readonly content_label?: Label } {
  const label = dropBlankName(origin);
  if (label === null) return {};
  if (label === 'user' && !caller.permissions.includes('prompts:speak'))
    throw new Refusal(
      'forbidden',
      '`context.origin: user` requires a signed-in user or the permission `prompts:speak`. Use an API key with it in the program that takes the prompts, and never in an agent.',
    );
  if (label === 'user' && session_id === null)
    throw new Refusal(
      'invalid_request',
      '`context.origin: user` requires `session_id`, because the words of a person count in one session.',
      [{ path: 'session_id', message: 'is missing' }],
    );
  if (label === 'operator' && !isOperatorPrompt(content, runtime.operator_prompts))
    throw new Refusal(
      'forbidden',
      '`context.origin: operator` is for prompts that the configuration lists. Add the SHA-256 of this text to `flow.operator_prompts`.',
    );
  return { content_label: label };
}

/** Returns whether the configuration lists a text's SHA-256. */
function isOperatorPrompt(content: Content, listed: ReadonlySet<string>): boolean {
  if (content.kind !== 'text' || listed.size === 0) return false;
  return listed.has(hash('sha256', content.text, 'hex'));
}
