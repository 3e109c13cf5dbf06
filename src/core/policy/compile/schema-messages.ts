import { describeGotValue, describeTypeFix, describeValue, suggestName, UNKNOWN_KEY } from './problems.ts';

/**
 * Messages about values that do not fit a schema: of settings, plug-ins, documents and bodies. Each is the end of a
 * sentence that begins with the path of the value.
 */
export const MISSING = 'is missing';
export const NOT_AS_EXPECTED = 'is not written as it must be';

/** Type names as authors of YAML files know them. */
const FILE_TYPES: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: '`true` or `false`',
  null: '`null`',
};

/** Type names as callers of the API know them. */
const BODY_TYPES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'a boolean',
  null: 'null',
};

/**
 * Describes a value in a file that has the wrong type, and how to fix it. `key` is the name of the value. `takesText`
 * says whether a list may have texts as entries.
 */
export function describeWrongType(
  types: readonly string[],
  value: unknown,
  key: string,
  takesText = true,
): string {
  const [type = ''] = types;
  const fix = type === 'array' && !takesText ? describeGotValue(value) : describeTypeFix(type, value, key);
  return `must be ${listTypes(types, FILE_TYPES)}${fix}`;
}

/** Describes the types that a value of a body may have. */
export function describeBodyTypes(types: readonly string[]): string {
  return `must be ${listTypes(types, BODY_TYPES)}`;
}

function listTypes(types: readonly string[], names: Readonly<Record<string, string>>): string {
  return types.map((type) => names[type]).join(' or ');
}

/** Describes a value that is none of the choices. `shown` is the value if the message may describe it. */
export function describeWrongChoice(choices: readonly unknown[], shown: unknown): string {
  const names = choices.map(String);
  const nearest = typeof shown === 'string' ? suggestName(shown, names) : '';
  const found = shown === undefined ? '' : `; it is ${describeValue(shown)}${nearest}`;
  return `must be one of ${names.map((name) => `\`${name}\``).join(', ')}${found}`;
}

/** Describes a key that a mapping must not have. `advice` begins with a semicolon, or is empty. */
export function describeUnknownKey(advice: string): string {
  return `${UNKNOWN_KEY}${advice}`;
}

/** Describes a value beyond a limit of the schema; `null` if the keyword is no limit. */
export function describeLimit(keyword: string, limit: number): string | null {
  return LIMITS[keyword]?.(limit) ?? null;
}

const LIMITS: Readonly<Record<string, (limit: number) => string>> = {
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  minLength: (limit) => (limit === 1 ? 'must not be empty' : `is shorter than ${limit} characters`),
  maxLength: (limit) => `is longer than ${limit} characters`,
  minItems: (limit) => `must have at least ${limit} ${limit === 1 ? 'entry' : 'entries'}`,
  maxItems: (limit) => `has more than ${limit} entries`,
  minProperties: (limit) => `must have at least ${limit} ${limit === 1 ? 'key' : 'keys'}`,
  maxProperties: (limit) => `has more than ${limit} keys`,
};
