// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
/** What became of one string with references in it. */
export type Interpolated =
  | {
      readonly ok: true;
      readonly text: string;
      /** The string is one reference and nothing else: its value may stand for a number or a boolean. */
      readonly whole: boolean;
      /** How many references were replaced. */
      readonly references: number;
      /** What was written around the references: a literal part, with every reference left out. */
      readonly literal: string;
    }
  | { readonly ok: false; readonly message: string };

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const SECRET = /^secret:/;

/**
 * Replaces `${NAME}` in a string that was already parsed by the value of that environment variable; `$${` is
 * how `${` itself is written. A replaced value is never looked at again, so it cannot bring in structure or a
 * further reference. An answer that is not `ok` has the predicate of a sentence, which repeats no value.
 */
export function interpolate(text: string, env: Readonly<Record<string, string | undefined>>): Interpolated {
  const parts: string[] = [];
  let literal = '';
  let references = 0;
  let at = 0;
  for (let open = text.indexOf('${'); open !== -1; open = text.indexOf('${', at)) {
    if (open > at && text[open - 1] === '$') {
      const kept = `${text.slice(at, open - 1)}\${`;
      parts.push(kept);
      literal += kept;
      at = open + 2;
      continue;
    }
    const close = text.indexOf('}', open);
    if (close === -1)
      return { ok: false, message: 'has a `${` that is not closed; write `$${` for the characters' };
    const found = lookUp(text.slice(open + 2, close), env);
    if (!found.ok) return found;
    literal += text.slice(at, open);
    parts.push(text.slice(at, open), found.value);
    references += 1;
    at = close + 1;
  }
  const rest = text.slice(at);
  const whole = references === 1 && parts[0] === '' && parts.length === 2 && rest === '';
  return { ok: true, text: parts.join('') + rest, whole, references, literal: literal + rest };
}

function lookUp(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): { ok: true; value: string } | { ok: false; message: string } {
  if (SECRET.test(name)) {
    return {
      ok: false,
      message:
        'asks for a secret of the secret backend, which this version cannot do; use `${NAME}` of the environment',
    };
  }
  if (!NAME.test(name)) {
    return {
      ok: false,
      message: 'has a `${...}` that names no environment variable; write `$${` for the characters',
    };
  }
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value === undefined) {
    return { ok: false, message: `needs the environment variable \`${name}\`, which is not set` };
  }
  return { ok: true, value };
}
