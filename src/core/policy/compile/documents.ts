import type { DocumentProblem, Json } from '../../types/index.ts';
import { DOCUMENT_KINDS, DOCUMENT_VERSION, type DocumentKind } from '../schemas.ts';
import { below, listed, type Place, problem, suggestion } from './problems.ts';

/** One record of a document, not yet read. */
export interface WrittenRecord {
  readonly kind: DocumentKind;
  readonly value: Json;
  readonly place: Place;
}

const HEAD_KEYS = ['version', 'apiVersion', 'kind', 'metadata', 'enforcement'];
const RECORD_KEYS = DOCUMENT_KINDS.flatMap(({ one, many }) => [one, many] as string[]);

/**
 * The records of a document: of one kind, one or a list of them. A document that is plainly another program's
 * (a foreign `apiVersion`) has none and gives a warning.
 */
export function recordsOf(
  file: string,
  document: Json,
  problems: DocumentProblem[],
): readonly WrittenRecord[] {
  const place = { file, path: '' };
  if (document === null || typeof document !== 'object' || Array.isArray(document)) {
    problems.push(problem(place, `must be a mapping with one of ${listed(RECORD_KEYS)}`));
    return [];
  }
  const members = document as { readonly [key: string]: Json };
  if (isForeign(members)) {
    problems.push(
      problem(below(place, 'apiVersion'), 'is another program’s; the file is left out', 'warning'),
    );
    return [];
  }
  problems.push(...headProblems(members, place));
  return bodyOf(members, place, problems).map((record) => withEnforcement(record, members, problems));
}

/** A record with the `enforcement` of its document, where it has none of its own. */
function withEnforcement(
  record: WrittenRecord,
  { enforcement }: { readonly [key: string]: Json },
  problems: DocumentProblem[],
): WrittenRecord {
  const { value, place } = record;
  if (enforcement === undefined) return record;
  if (record.kind === 'memory') {
    const here = below({ file: place.file, path: '' }, 'enforcement');
    problems.push(problem(here, 'is for rules, contracts and identities; a memory schema has none'));
    return record;
  }
  const is_mapping = typeof value === 'object' && value !== null && !Array.isArray(value);
  return is_mapping ? { ...record, value: { enforcement, ...value } } : record;
}

/** Our own versions: plain, or with a group before it, as cluster tools write it. */
const OWN_VERSION = /^(?:(?:agent-)?(?:safety|service)(?:\.[a-z0-9.-]{1,100})?\/)?v1alpha1$/;

function isForeign({ apiVersion }: { readonly [key: string]: Json }): boolean {
  return apiVersion !== undefined && (typeof apiVersion !== 'string' || !OWN_VERSION.test(apiVersion));
}

function headProblems(members: { readonly [key: string]: Json }, place: Place): DocumentProblem[] {
  const problems: DocumentProblem[] = [];
  if (members.version !== undefined && members.version !== DOCUMENT_VERSION) {
    problems.push(problem(below(place, 'version'), `must be \`${DOCUMENT_VERSION}\``));
  }
  const { enforcement } = members;
  if (enforcement !== undefined && enforcement !== 'enforce' && enforcement !== 'monitor') {
    problems.push(problem(below(place, 'enforcement'), 'must be one of `enforce` or `monitor`'));
  }
  for (const key of Object.keys(members)) {
    if (key.startsWith('x-') || HEAD_KEYS.includes(key) || RECORD_KEYS.includes(key)) continue;
    problems.push(
      problem(
        below(place, key),
        `is no key here${suggestion(key, [...RECORD_KEYS, 'version', 'enforcement'])}`,
      ),
    );
  }
  return problems;
}

function bodyOf(
  members: { readonly [key: string]: Json },
  place: Place,
  problems: DocumentProblem[],
): readonly WrittenRecord[] {
  const present = RECORD_KEYS.filter((key) => Object.hasOwn(members, key));
  const [key] = present;
  if (key === undefined || present.length > 1) {
    const what = key === undefined ? 'has none of' : `has ${listed(present)} together; a document has one of`;
    problems.push(problem(place, `${what} ${listed(RECORD_KEYS)}`));
    return [];
  }
  const { kind, one } = DOCUMENT_KINDS.find((each) => each.one === key || each.many === key)!;
  const value = members[key] as Json;
  if (key === one) return [{ kind, value, place: below(place, key) }];
  if (!Array.isArray(value) || value.length === 0) {
    problems.push(problem(below(place, key), 'must be a list with at least one entry'));
    return [];
  }
  return (value as readonly Json[]).map((each, at) => ({ kind, value: each, place: below(place, key, at) }));
}
