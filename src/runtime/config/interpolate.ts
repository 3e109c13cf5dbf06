// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
/** What became of one string with references in it. */
export type InterpolationResult =
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

/** A secret that was read, or the predicate of a sentence that says why not. */
export type SecretReadResult =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly message: string };

/** Where the values of references come from. */
export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By name, what was read of the secret backend; `left`: what stands on a secret stays as it is written. */
  readonly secrets: ReadonlyMap<string, SecretReadResult> | 'left';
  /** Sections of which the same holds as of `left`: nobody asks for their credentials. */
  readonly left_sections?: readonly string[];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const SECRET = 'secret:';

/**
 * Replaces `${NAME}` in a string that was already parsed by the value of that environment variable, and
 * `${secret:name}` by that secret; `$${` is how `${` itself is written. A replaced value is never looked at
 * again, so it cannot bring in structure or a further reference. An answer that is not `ok` has the predicate of
 * a sentence, which repeats no value.
 */
export function interpolate(text: string, sources: ReferenceSources): InterpolationResult {
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
    const found = lookUp(text.slice(open + 2, close), sources);
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

/** The names of secrets that a string asks for. */
export function findSecretNames(text: string): string[] {
  return [...text.matchAll(/(?<!\$)\$\{secret:([^}]*)\}/g)].map(([, name = '']) => name);
}

function lookUp(name: string, { env, secrets }: ReferenceSources): SecretReadResult {
  if (name.startsWith(SECRET)) {
    if (secrets === 'left') return { ok: true, value: `\${${name}}` };
    const read = secrets.get(name.slice(SECRET.length));
    return (
      read ?? {
        ok: false,
        message: 'asks for a secret, which is not available here; use `${NAME}` of the environment',
      }
    );
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
