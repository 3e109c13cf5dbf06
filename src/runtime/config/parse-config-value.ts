// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { describeValue, suggestName } from '../../core/policy/compile/problems.ts';
import {
  describeLimit,
  describeUnknownKey,
  describeWrongChoice,
  describeWrongType,
  MISSING,
  NOT_AS_EXPECTED,
} from '../../core/policy/compile/schema-messages.ts';
import { findSecretNames, interpolateText, type ReferenceSources } from './interpolate.ts';
import { formatPath, type PathStep } from './problem-path.ts';
import type { ConfigSchema, TypeName } from './schema-types.ts';

/** A problem of a value, and its place. */
export interface ValueProblem {
  readonly steps: readonly PathStep[];
  readonly message: string;
}

interface ParseContext {
  readonly root: ConfigSchema;
  readonly sources: ReferenceSources;
  readonly problems: ValueProblem[];
}

/**
 * Parses a value according to a schema. Replaces `${NAME}` and `${secret:name}` in strings, converts a string that is a
 * single reference to the expected number or boolean, fills in defaults, and collects every problem. Use the value only
 * if there are no problems. Messages name keys and choices and describe a value. They repeat it only if it is a short
 * word or number from the file itself.
 */
export function parseConfigValue(
  written: unknown,
  schema: ConfigSchema,
  sources: ReferenceSources,
): { value: unknown; problems: readonly ValueProblem[] } {
  const problems: ValueProblem[] = [];
  const value = parseValue({ root: schema, sources, problems }, written, schema, []);
  return { value, problems };
}

/** Marks a value with a reported problem, which is not checked further. */
const UNSETTLED = Symbol('unsettled');

function parseValue(at: ParseContext, written: unknown, schema: ConfigSchema, steps: PathStep[]): unknown {
  if (schema.oneOf !== undefined) return parseChoice(at, written, schema.oneOf, steps);
  if (schema.type === undefined) return parseFree(at, written, steps);
  const types = getTypes(schema);
  // A section whose keys are all commented out is `null`, so its default applies.
  const empty = written === null && !types.includes('null') && typeof schema.default === 'object';
  if (empty) return parseValue(at, schema.default, schema, steps);
  if (typeof written === 'string' && remainsAsWritten(at.sources, written, schema, steps)) return written;
  const value = typeof written === 'string' ? parseText(at, written, schema, steps) : written;
  if (value === UNSETTLED) return UNSETTLED;
  if (!types.some((type) => hasType(type, value))) {
    if (schema['x-credential'] === true) return reportProblem(at, steps, PLAIN_CREDENTIAL);
    return reportProblem(at, steps, describeWrongValueType(at, types, written, schema, steps));
  }
  if (Array.isArray(value)) return parseList(at, value, schema, steps);
  if (isMapping(value)) return parseObject(at, value, schema, steps);
  const wrong = findValueProblem(value, schema, getDescribableValue(written));
  return wrong === null ? value : reportProblem(at, steps, wrong);
}

function describeWrongValueType(
  at: ParseContext,
  types: readonly TypeName[],
  written: unknown,
  schema: ConfigSchema,
  steps: readonly PathStep[],
): string {
  const key = String(steps.at(-1) ?? '');
  const takesText = getTypes(schema.items ?? {}).includes('string');
  const wrong = describeWrongType(types, getDescribableValue(written), key, takesText);
  const files = steps.length === 1 && typeof written === 'string' ? findFilesKey(key, at.root) : null;
  return files === null ? wrong : `${wrong}. Name the files in \`${files}\``;
}

/**
 * Returns the value that messages may describe; `undefined` for one with references, because they may hold credentials.
 */
function getDescribableValue(written: unknown): unknown {
  return typeof written === 'string' && written.includes('${') ? undefined : written;
}

const PLAIN_CREDENTIAL =
  'is a credential in plain text; put it into an environment variable and write `${NAME}`, or into the secret backend and write `${secret:name}`';

function parseText(at: ParseContext, written: string, schema: ConfigSchema, steps: PathStep[]): unknown {
  if (schema['x-verbatim'] === true) return written;
  if (findSecretNames(written).length > 0) {
    if (BEFORE_SECRETS.includes(String(steps[0])))
      return reportProblem(at, steps, 'may take no secret: it is needed before any can be read');
  }
  const filled = interpolateText(written, at.sources);
  if (!filled.ok) return reportProblem(at, steps, filled.message);
  if (schema['x-credential'] === true) {
    if (!filled.whole) return reportProblem(at, steps, PLAIN_CREDENTIAL);
    return filled.text === ''
      ? reportProblem(at, steps, 'names a variable or a secret that is empty')
      : filled.text;
  }
  if (hasPassword(filled.literal)) {
    return reportProblem(
      at,
      steps,
      'has a password in plain text; put it into an environment variable and write `${NAME}` in its place, or into the secret backend and write `${secret:name}`',
    );
  }
  return filled.whole ? coerceText(filled.text, getTypes(schema)) : filled.text;
}

/** Sections that are needed before secrets can be read. */
const BEFORE_SECRETS = ['secrets', 'state_dir'];

/**
 * Returns whether a text remains as written because the caller needs no credentials. This holds for references to
 * secrets, and for credentials in a variable that is not set. Such a text is not validated, because its value is
 * unknown.
 */
function remainsAsWritten(
  sources: ReferenceSources,
  written: string,
  schema: ConfigSchema,
  steps: readonly PathStep[],
): boolean {
  const { env, secrets, left_sections = [] } = sources;
  const section = String(steps[0]);
  if (secrets !== 'left' && !left_sections.includes(section)) return false;
  if (schema['x-verbatim'] === true || !getTypes(schema).includes('string')) return false;
  if (findSecretNames(written).length > 0) return !BEFORE_SECRETS.includes(section);
  const name = /^\$\{([A-Za-z_][A-Za-z0-9_]{0,127})\}$/.exec(written)?.[1];
  return schema['x-credential'] === true && name !== undefined && env[name] === undefined;
}

/** Returns whether a URL contains a literal password, before the `@` or among its parameters. */
function hasPassword(literal: string): boolean {
  const scheme = literal.indexOf('://');
  if (scheme === -1) return false;
  if (/[?&](?:password|passwd|pwd)=[^&#\s]/i.test(literal)) return true;
  const authority = literal.slice(scheme + 3).split(/[/?#\s]/, 1)[0] ?? '';
  const user = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
  const colon = user.indexOf(':');
  return colon !== -1 && colon < user.length - 1;
}

function coerceText(text: string, types: readonly TypeName[]): unknown {
  if (types.includes('string')) return text;
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (types.includes('integer') && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (types.includes('number') && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  return text;
}

/**
 * Interpolates a part that the policy compiler validates later (rules). A rule must not contain a secret, because rules
 * are stored with the policy and shown.
 */
function parseFree(at: ParseContext, written: unknown, steps: PathStep[]): unknown {
  if (typeof written === 'string') {
    if (findSecretNames(written).length > 0)
      return reportProblem(
        at,
        steps,
        'asks for a secret, and a rule may hold none: rules are saved and shown',
      );
    const filled = interpolateText(written, at.sources);
    return filled.ok ? filled.text : reportProblem(at, steps, filled.message);
  }
  if (Array.isArray(written)) return written.map((item, i) => parseFree(at, item, [...steps, i]));
  if (!isMapping(written)) return written;
  const entries = Object.entries(written).map(
    ([key, value]) => [key, key.startsWith('x-') ? value : parseFree(at, value, [...steps, key])] as const,
  );
  return Object.fromEntries(entries);
}

function parseList(
  at: ParseContext,
  list: readonly unknown[],
  schema: ConfigSchema,
  steps: PathStep[],
): unknown {
  const limit = findExceededLimit(schema, { minItems: -list.length, maxItems: list.length });
  if (limit !== null) return reportProblem(at, steps, limit);
  return list.map((item, i) => parseValue(at, item, schema.items ?? {}, [...steps, i]));
}

function parseChoice(
  at: ParseContext,
  written: unknown,
  choices: readonly ConfigSchema[],
  steps: PathStep[],
): unknown {
  if (!isMapping(written)) return reportProblem(at, steps, 'must be a mapping with a `type`');
  const types = choices.map((choice) => String(choice.properties?.type?.const));
  const type = Object.hasOwn(written, 'type') ? written.type : undefined;
  const chosen = choices[types.indexOf(String(type))];
  if (chosen !== undefined) return parseObject(at, written, chosen, steps);
  return reportProblem(at, [...steps, 'type'], describeWrongChoice(types, type));
}

function parseObject(at: ParseContext, written: Mapping, schema: ConfigSchema, steps: PathStep[]): unknown {
  const properties = schema.properties ?? {};
  const limit = findExceededLimit(schema, { maxProperties: Object.keys(written).length });
  if (limit !== null) return reportProblem(at, steps, limit);
  const settled: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(written)) {
    const here = [...steps, key];
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property !== undefined) settled[key] = parseValue(at, value, property, here);
    else if (schema.additionalProperties) settled[key] = parseNamed(at, key, value, schema, here);
    else if (!key.startsWith('x-'))
      reportProblem(at, here, describeUnknownKey(suggestPlace(here, schema, at.root)));
  }
  for (const [key, property] of Object.entries(properties)) {
    if (Object.hasOwn(written, key) || !Object.hasOwn(property, 'default')) continue;
    settled[key] = parseValue(at, property.default, property, [...steps, key]);
  }
  reportMissing(at, written, settled, schema, steps);
  return settled;
}

function parseNamed(
  at: ParseContext,
  key: string,
  value: unknown,
  schema: ConfigSchema,
  here: PathStep[],
): unknown {
  const names = schema.propertyNames?.pattern;
  if (names !== undefined && !new RegExp(names).test(key)) {
    return reportProblem(at, here, 'is no name: letters, digits, `_`, `.` and `-` make one');
  }
  return parseValue(at, value, schema.additionalProperties || {}, here);
}

function reportMissing(
  at: ParseContext,
  written: Mapping,
  settled: Mapping,
  schema: ConfigSchema,
  steps: PathStep[],
): void {
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(written, key)) reportProblem(at, [...steps, key], MISSING);
  }
  for (const { key, is, needs } of schema['x-needs'] ?? []) {
    if (settled[key] !== is || Object.hasOwn(written, needs)) continue;
    reportProblem(at, [...steps, needs], `${MISSING}; \`${formatPath([...steps, key])}: ${is}\` needs it`);
  }
}

/** Returns the predicate of an error sentence for a value of the right type; `null` if the value is valid. */
function findValueProblem(value: unknown, schema: ConfigSchema, shown: unknown): string | null {
  if (schema.const !== undefined && value !== schema.const) return `must be \`${schema.const}\``;
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return describeWrongChoice(schema.enum, shown);
  }
  if (typeof value === 'number') return findNumberProblem(value, schema);
  if (typeof value === 'string') return findTextProblem(value, schema, shown);
  return null;
}

function findNumberProblem(value: number, { minimum, maximum }: ConfigSchema): string | null {
  const over = maximum !== undefined && value > maximum;
  if (!over && (minimum === undefined || value >= minimum)) return null;
  if (minimum === undefined) return `must be at most ${maximum}; it is \`${value}\``;
  const range = maximum === undefined ? `at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return `must be ${range}; it is \`${value}\``;
}

/** The maximum length of a text that has a pattern. Some patterns take quadratic time, so longer texts are refused. */
const PATTERN_CHARACTERS_MAX = 4_096;

function findTextProblem(value: string, schema: ConfigSchema, shown: unknown): string | null {
  const hasPattern = schema.pattern !== undefined;
  const isEmpty = value === '' && (schema.minLength ?? 0) > 0;
  if (hasPattern && value.length > PATTERN_CHARACTERS_MAX)
    return `is longer than ${Math.min(schema.maxLength ?? PATTERN_CHARACTERS_MAX, PATTERN_CHARACTERS_MAX)} characters`;
  if (hasPattern && !isEmpty && !new RegExp(schema.pattern).test(value)) {
    const expects = schema['x-expects'] ?? NOT_AS_EXPECTED;
    return shown === undefined ? expects : `${expects}${suggestDuration(value, schema.pattern)}`;
  }
  return findExceededLimit(schema, { maxLength: value.length, minLength: -value.length });
}

/** Returns the message of the first limit that a size exceeds. The size for a lower limit is negative. */
function findExceededLimit(
  schema: ConfigSchema,
  sizes: Readonly<Partial<Record<Limit, number>>>,
): string | null {
  for (const [keyword, size] of Object.entries(sizes)) {
    const limit = schema[keyword as Limit];
    if (limit !== undefined && size > (keyword.startsWith('min') ? -limit : limit))
      return describeLimit(keyword, limit);
  }
  return null;
}

type Limit = 'maxItems' | 'maxLength' | 'maxProperties' | 'minItems' | 'minLength';

/**
 * Returns "; it is the string `12 hours`; did you mean `12h`?" for a duration in words, if the pattern expects a
 * duration.
 */
function suggestDuration(value: string, pattern: string): string {
  const [, count, unit] =
    /^(\d{1,5}) ?([smhdw])(?:ec|econd|in|inute|our|ay|eek)?s?$/i.exec(value.trim()) ?? [];
  const suggestion = `${Number(count)}${unit?.toLowerCase()}`;
  if (count === undefined || !new RegExp(pattern).test(suggestion)) return '';
  return `; it is ${describeValue(value)}; did you mean \`${suggestion}\`?`;
}

type Mapping = Readonly<Record<string, unknown>>;

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasType(type: TypeName, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isMapping(value);
  if (type === 'null') return value === null;
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'number') return Number.isFinite(value);
  return typeof value === type;
}

function getTypes(schema: ConfigSchema): readonly TypeName[] {
  if (schema.type === undefined) return [];
  return typeof schema.type === 'string' ? [schema.type] : schema.type;
}

/** Suggests the place of an unknown key, or a similar key. */
function suggestPlace(steps: readonly PathStep[], schema: ConfigSchema, root: ConfigSchema): string {
  const key = String(steps.at(-1));
  if (schema !== root && Object.hasOwn(root.properties ?? {}, key))
    return '; it belongs at the top of the file';
  const near = suggestName(key, Object.keys(schema.properties ?? {}));
  if (near !== '') return near;
  const around = formatPath(steps.slice(0, -1));
  const place = findKeyBelow(key, schema, around) ?? (schema === root ? findFilesKey(key, root) : null);
  return place === null ? '' : `; did you mean \`${place}\`?`;
}

/** The most sections below each other that are searched for a key. */
const LEVELS = 3;

/**
 * Returns the path of the only key of this name below a mapping, `proxy.providers[].api_key`; `null` if the nearest level
 * with such a key has several.
 */
function findKeyBelow(key: string, schema: ConfigSchema, around: string): string | null {
  let level: readonly (readonly [path: string, schema: ConfigSchema])[] = [[around, schema]];
  for (let depth = 0; depth < LEVELS; depth++) {
    level = level.flatMap(([path, { properties = {} }]) =>
      Object.entries(properties).map(([name, inner]) => {
        const below = path === '' ? name : `${path}.${name}`;
        return inner.items === undefined ? ([below, inner] as const) : ([`${below}[]`, inner.items] as const);
      }),
    );
    const owners = level.filter(([, { properties = {} }]) => Object.hasOwn(properties, key));
    if (owners.length > 0) return owners.length === 1 ? `${owners[0]![0]}.${key}` : null;
  }
  return null;
}

/** Returns the key for the document files: `paths.policy_files` for `policies`. */
function findFilesKey(key: string, { properties = {} }: ConfigSchema): string | null {
  const name = `${key.replace(/ies$/, 'y').replace(/s$/, '')}_files`;
  return Object.hasOwn(properties.paths?.properties ?? {}, name) ? `paths.${name}` : null;
}

function reportProblem(at: ParseContext, steps: readonly PathStep[], message: string): typeof UNSETTLED {
  at.problems.push({ steps, message });
  return UNSETTLED;
}
