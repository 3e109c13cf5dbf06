// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.

import { Type } from '../../../core/schema.ts';

/** A credential, written as a reference. */
export const credentialSchema = Type.String({ minLength: 1, maxLength: 4096, 'x-credential': true });

/** The address that a chat gives out. Its path is a credential. */
export const chatUrlSchema = {
  ...credentialSchema,
  description: 'The address, as `${NAME}`: it works as a credential.',
} as const;

export const timeoutSchema = Type.Integer({
  minimum: 100,
  maximum: 60_000,
  default: 10_000,
  description: 'Time limit of one attempt, in milliseconds.',
});

/** Opens an address of the machine or its network on demand. */
export const allowLinkLocalSchema = Type.Boolean({
  default: false,
  description: 'Allows a link-local address, where clouds serve credentials of machines.',
});

/** The settings of a chat channel. */
export interface ChatSettings {
  readonly url: string;
  readonly timeout_ms: number;
}

/** The schema of a chat channel's settings. */
export const chatProperties = { url: chatUrlSchema, timeout_ms: timeoutSchema } as const;
