// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';

/** The result of replacing the references in one string. */
export type InterpolationResult =
  | {
      readonly ok: true;
      readonly text: string;
      /** The string is a single reference, so its value may become a number or a boolean. */
      readonly whole: boolean;
      /** The number of replaced references. */
      readonly references: number;
      /** The literal text around the references. */
      readonly literal: string;
    }
  | { readonly ok: false; readonly message: string };

/** A secret that was read, or the predicate of an error sentence. */
export type SecretReadResult =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly message: string };

/** The sources of the values of references. */
export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The secrets by name, as read from the backend. `left` keeps references to secrets unresolved. */
  readonly secrets: ReadonlyMap<string, SecretReadResult> | 'left';
  /** Sections that are treated as if `secrets` were `left`, because their credentials are not needed. */
  readonly left_sections?: readonly string[];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const SECRET = 'secret:';
/** `NAME_FILE` names a file with the value of `NAME`, as container engines and Kubernetes mount secrets. */
const FILE_SUFFIX = '_FILE';
const FILE_BYTES_MAX = 65_536;

/**
 * Replaces `${NAME}` in a parsed string by that environment variable, or by the content of the file that `NAME_FILE`
 * names, and `${secret:name}` by that secret. `$${` is the escape for `${`. A replaced value is not interpolated again, so it cannot add structure or further references. A
 * failure is the predicate of a sentence, which repeats no value.
 */
export function interpolateText(text: string, sources: ReferenceSources): InterpolationResult {
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

/** Returns the names of the secrets that a string references. */
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
  const value = getVariable(env, name);
  if (value !== undefined) return { ok: true, value };
  const file = getVariable(env, `${name}${FILE_SUFFIX}`);
  if (file !== undefined) return readValueFile(name, file);
  return { ok: false, message: `needs the environment variable \`${name}\`, which is not set` };
}

function getVariable(env: ReferenceSources['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** Reads a value without the line break at its end, which editors and `echo` add. */
function readValueFile(name: string, file: string): SecretReadResult {
  const refuse = (why: string) => ({
    ok: false as const,
    message: `needs the environment variable \`${name}\`, and the file that \`${name}${FILE_SUFFIX}\` names ${why}`,
  });
  if (!isAbsolute(file)) return refuse('has no absolute path');
  try {
    const stats = statSync(file);
    if (!stats.isFile()) return refuse('is no file');
    if (stats.size > FILE_BYTES_MAX) return refuse(`has more than ${FILE_BYTES_MAX} bytes`);
    return { ok: true, value: readFileSync(file, 'utf8').replace(/\r?\n$/, '') };
  } catch (error) {
    return refuse(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}
