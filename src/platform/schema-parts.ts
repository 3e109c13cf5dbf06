/** An HTTP URL. */
export const urlSchema = {
  type: 'string',
  pattern: '^https?://[^\\s/?#]+[^\\s]*$',
  maxLength: 2048,
  'x-expects': 'must be an address that begins with `http://` or `https://`',
} as const;

/** The name of an environment variable that holds a credential. */
export const environmentNameSchema = {
  type: 'string',
  pattern: '^[A-Z_][A-Z0-9_]{0,127}$',
  'x-expects': 'must be the name of an environment variable, in capitals; the credential itself stays there',
} as const;

/** A duration. */
export const durationSchema = {
  type: 'string',
  pattern: '^[1-9][0-9]{0,4}[smhdw]$',
  maxLength: 6,
  'x-expects': 'must be a duration: a whole number and one of `s`, `m`, `h`, `d`, `w`, such as `24h`',
} as const;

/** File names or patterns. */
export const patternListSchema = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 1024 },
  maxItems: 1000,
} as const;

/** A list of names, for example of tenants, agents or addresses. */
export const nameListSchema = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 256 },
  maxItems: 10_000,
} as const;
