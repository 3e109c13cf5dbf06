import type { DocumentProblem, Json } from '../../types/index.ts';
import { DOCUMENT_KINDS, DOCUMENT_VERSION, type DocumentKind } from '../schemas.ts';
import {
  buildChildLocation,
  buildDocumentProblem,
  type DocumentLocation,
  formatNames,
  suggestName,
} from './problems.ts';
import { describeUnknownKey } from './schema-messages.ts';

/** One record of a document, not parsed yet. */
export interface DocumentRecord {
  readonly kind: DocumentKind;
  readonly value: Json;
  readonly place: DocumentLocation;
}

const HEAD_KEYS = ['version', 'apiVersion', 'kind', 'metadata', 'enforcement'];
const RECORD_KEYS = DOCUMENT_KINDS.flatMap(({ one, many }) => [one, many] as string[]);

/**
 * Returns the records of a document: one record or a list, all of one kind. A document that belongs to another
 * program (a foreign `apiVersion`) has no records and gives a warning.
 */
export function listDocumentRecords(
  file: string,
  document: Json,
  problems: DocumentProblem[],
): readonly DocumentRecord[] {
  const place = { file, path: '' };
  if (document === null || typeof document !== 'object' || Array.isArray(document)) {
    problems.push(buildDocumentProblem(place, `must be a mapping with one of ${formatNames(RECORD_KEYS)}`));
    return [];
  }
  const members = document as { readonly [key: string]: Json };
  if (isForeign(members)) {
    problems.push(
      buildDocumentProblem(
        buildChildLocation(place, 'apiVersion'),
        'is another program’s; the file is left out',
        'warning',
      ),
    );
    return [];
  }
  problems.push(...findHeadProblems(members, place));
  return getBody(members, place, problems).map((record) => withEnforcement(record, members, problems));
}

/** Returns a record with the `enforcement` of its document, unless it has its own. */
function withEnforcement(
  record: DocumentRecord,
  { enforcement }: { readonly [key: string]: Json },
  problems: DocumentProblem[],
): DocumentRecord {
  const { value, place } = record;
  if (enforcement === undefined) return record;
  if (record.kind === 'memory') {
    const here = buildChildLocation({ file: place.file, path: '' }, 'enforcement');
    problems.push(
      buildDocumentProblem(here, 'is for rules, contracts and identities; a memory schema has none'),
    );
    return record;
  }
  const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMapping ? { ...record, value: { enforcement, ...value } } : record;
}

/** The supported versions: plain, or with an API group before it, as in Kubernetes manifests. */
const OWN_VERSION = /^(?:(?:customshouse|(?:agent-)?(?:safety|service))(?:\.[a-z0-9.-]{1,100})?\/)?v1alpha1$/;

function isForeign({ apiVersion }: { readonly [key: string]: Json }): boolean {
  return apiVersion !== undefined && (typeof apiVersion !== 'string' || !OWN_VERSION.test(apiVersion));
}

function findHeadProblems(
  members: { readonly [key: string]: Json },
  place: DocumentLocation,
): DocumentProblem[] {
  const problems: DocumentProblem[] = [];
  if (members.version !== undefined && members.version !== DOCUMENT_VERSION) {
    problems.push(
      buildDocumentProblem(buildChildLocation(place, 'version'), `must be \`${DOCUMENT_VERSION}\``),
    );
  }
  const { enforcement } = members;
  if (enforcement !== undefined && enforcement !== 'enforce' && enforcement !== 'monitor') {
    problems.push(
      buildDocumentProblem(buildChildLocation(place, 'enforcement'), 'must be one of `enforce` or `monitor`'),
    );
  }
  for (const key of Object.keys(members)) {
    if (key.startsWith('x-') || HEAD_KEYS.includes(key) || RECORD_KEYS.includes(key)) continue;
    problems.push(
      buildDocumentProblem(
        buildChildLocation(place, key),
        describeUnknownKey(suggestName(key, [...RECORD_KEYS, 'version', 'enforcement'])),
      ),
    );
  }
  return problems;
}

function getBody(
  members: { readonly [key: string]: Json },
  place: DocumentLocation,
  problems: DocumentProblem[],
): readonly DocumentRecord[] {
  const present = RECORD_KEYS.filter((key) => Object.hasOwn(members, key));
  const [key] = present;
  if (key === undefined || present.length > 1) {
    const what =
      key === undefined ? 'has none of' : `has ${formatNames(present)} together; a document has one of`;
    problems.push(buildDocumentProblem(place, `${what} ${formatNames(RECORD_KEYS)}`));
    return [];
  }
  const { kind, one } = DOCUMENT_KINDS.find((each) => each.one === key || each.many === key)!;
  const value = members[key] as Json;
  if (key === one) return [{ kind, value, place: buildChildLocation(place, key) }];
  if (!Array.isArray(value) || value.length === 0) {
    problems.push(
      buildDocumentProblem(buildChildLocation(place, key), 'must be a list with at least one entry'),
    );
    return [];
  }
  return (value as readonly Json[]).map((each, at) => ({
    kind,
    value: each,
    place: buildChildLocation(place, key, at),
  }));
}
