import { type Schema, validate } from '@cfworker/json-schema';
import type { Static } from 'typebox';
import { parsePointer, resolvePointer } from '../../json/pointer.ts';
import type { DocumentProblem, Json } from '../../types/index.ts';
import {
  buildChildLocation,
  buildDocumentProblem,
  type DocumentLocation,
  describeValue,
  suggestName,
} from './problems.ts';
import {
  describeLimit,
  describeUnknownKey,
  describeWrongChoice,
  describeWrongType,
  MISSING,
  NOT_AS_EXPECTED,
} from './schema-messages.ts';

/** A record that fits its schema, or the problems with it. */
export type ReadShape<Value> =
  | { readonly value: Value; readonly problems: readonly [] }
  | { readonly value: null; readonly problems: readonly DocumentProblem[] };

/**
 * Returns a record with the type of its schema, or all problems with its shape: unknown keys with the nearest known
 * name, missing keys, wrong types and values. Values are described; only short words and numbers are repeated.
 */
export function readShape<const Described extends object>(
  record: Json,
  schema: Described,
  place: DocumentLocation,
): ReadShape<Static<Described>> {
  const problems = findShapeProblems(record, schema, place);
  return problems === null ? { value: record as Static<Described>, problems: [] } : { value: null, problems };
}

/** Returns `null` if the record is valid. */
function findShapeProblems(
  record: Json,
  schema: object,
  place: DocumentLocation,
): readonly DocumentProblem[] | null {
  const { valid, errors } = validate(record, schema as Schema, '2020-12', {}, false);
  if (valid) return null;
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf').map((error) => error.keywordLocation);
  const found = new Map<string, DocumentProblem>();
  for (const { instanceLocation, keyword, keywordLocation } of errors) {
    if (choices.some((choice) => keywordLocation.startsWith(`${choice}/`))) continue;
    const steps = parsePointer(instanceLocation);
    const owner = keywordLocation.slice(0, keywordLocation.lastIndexOf('/'));
    const rule = resolvePointer(schema as Json, owner) as DescribedSchema | undefined;
    const value = resolvePointer(record, instanceLocation);
    if (rule === undefined || value === undefined) continue;
    const at = buildChildLocation(
      place,
      ...steps.map((step, depth) => toPathStep(record, steps, step, depth)),
    );
    for (const each of getProblems(keyword, rule, value, at)) found.set(`${each.path} ${each.message}`, each);
  }
  return [...found.values()];
}

/** The keywords of a schema in `schemas.ts` that a message may use. */
interface DescribedSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly 'x-expects'?: string;
}

function getProblems(
  keyword: string,
  rule: DescribedSchema,
  value: Json,
  place: DocumentLocation,
): readonly DocumentProblem[] {
  if (keyword === 'additionalProperties') return findUnknownKeys(rule, value, place);
  if (keyword === 'required') return findMissingKeys(rule, value, place);
  const predicate = describeKeywordError(
    keyword,
    rule,
    value,
    /(?:^|\.)([A-Za-z_]+)$/.exec(place.path)?.[1] ?? '',
  );
  return predicate === null ? [] : [buildDocumentProblem(place, predicate)];
}

function findUnknownKeys(
  { properties = {} }: DescribedSchema,
  value: Json,
  place: DocumentLocation,
): DocumentProblem[] {
  const known = Object.keys(properties);
  return Object.keys(value as object)
    .filter((key) => !Object.hasOwn(properties, key) && !key.startsWith('x-'))
    .map((key) =>
      buildDocumentProblem(buildChildLocation(place, key), describeUnknownKey(suggestName(key, known))),
    );
}

function findMissingKeys(
  { required = [] }: DescribedSchema,
  value: Json,
  place: DocumentLocation,
): DocumentProblem[] {
  return required
    .filter((key) => !Object.hasOwn(value as object, key))
    .map((key) => buildDocumentProblem(buildChildLocation(place, key), MISSING));
}

/** Returns the rest of the message; `null` for keywords that only report an error below them. */
function describeKeywordError(
  keyword: string,
  rule: DescribedSchema,
  value: Json,
  key: string,
): string | null {
  if (keyword === 'enum') return describeWrongChoice(rule.enum ?? [], value);
  if (keyword === 'type') return describeWrongType([rule.type].flat() as readonly string[], value, key);
  if (keyword === 'anyOf' || keyword === 'pattern') {
    const expects = rule['x-expects'] ?? NOT_AS_EXPECTED;
    const suggestion = typeof value === 'string' ? suggestName(value, extractQuoted(expects)) : '';
    return suggestion === '' ? expects : `${expects}; it is ${describeValue(value)}${suggestion}`;
  }
  return describeLimit(keyword, Number((rule as Readonly<Record<string, unknown>>)[keyword]));
}

/** Returns the names that a message quotes: "must be `input` or `output`" has two. */
function extractQuoted(sentence: string): string[] {
  return [...sentence.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!);
}

/** Returns the step of a pointer as a step of a path: a number if it is the index of a list. */
function toPathStep(record: Json, steps: readonly string[], step: string, depth: number): string | number {
  let at: Json | undefined = record;
  for (const before of steps.slice(0, depth)) at = (at as Record<string, Json>)[before];
  return Array.isArray(at) ? Number(step) : step;
}
