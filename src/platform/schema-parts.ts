import { Type } from '../core/schema.ts';
/** An HTTP URL. */
export const urlSchema = Type.String({
  pattern: '^https?://[^\\s/?#]+[^\\s]*$',
  maxLength: 2048,
  'x-expects': 'must be an address that begins with `http://` or `https://`',
});

/** The name of an environment variable that holds a credential. */
export const environmentNameSchema = Type.String({
  pattern: '^[A-Z_][A-Z0-9_]{0,127}$',
  'x-expects': 'must be the name of an environment variable, in capitals; the credential itself stays there',
});

/** A duration. */
export const durationSchema = Type.String({
  pattern: '^[1-9][0-9]{0,4}[smhdw]$',
  maxLength: 6,
  'x-expects': 'must be a duration: a whole number and one of `s`, `m`, `h`, `d`, `w`, such as `24h`',
});

/** File names or patterns. */
export const patternListSchema = Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
  maxItems: 1000,
});

/** A list of names, for example of tenants, agents or addresses. */
export const nameListSchema = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 10_000 });
