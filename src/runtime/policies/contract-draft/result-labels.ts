import { KEYS_STEP, LINES_STEP, parseLabelPath } from '../../../core/flow/label-paths.ts';
import type { Json, JsonObject, Label } from '../../../core/types/index.ts';
import { asObject, findOwnRole } from './argument-roles.ts';
import { isCreatingVerb } from './intent-words.ts';
import { findObjectWords, type SourceKind } from './source-kinds.ts';
import type { DraftReason, ToolDescription } from './tool-description.ts';
import { getHead, hasWord, listWords, readNameWords } from './words.ts';

/** Labels in one contract, at most. Further fields have the label for the whole result. */
const LABELS_MAX = 200;
const DEPTH_MAX = 12;

/** Fields of an address book that people are named and reached by. Notes and all else are free text. */
const CARD_FIELDS = listWords(
  'name firstname lastname surname nickname handle username email mail phone mobile fax address iban account user member employee colleague payee beneficiary people person department',
);
const FREE_TEXT = listWords('body content text message description comment note bio info information about');

/** Identifiers that a service makes. A `reference` or a `slug` often repeats what a stranger wrote. */
const MADE_IDENTIFIERS = listWords('id identifier uuid guid sha hash number index');

/** Places that members of the organisation name. */
const PLACES = listWords('channel room group team folder calendar label');

/** Accounts that a bank assigns, unless the field is about the other party. */
const ACCOUNTS = listWords('iban account account_number balance currency');
const OTHER_PARTIES = listWords(
  'sender from payer remitter counterparty recipient to creditor debtor author owner',
);

/** Facts that the keeper of records maintains. */
const ATTRIBUTES = listWords(
  'address phone hour price rating currency country city zip postcode state status type category kind size version unit language level',
);

/** The proposed labels of a result. */
export interface ResultDraft {
  readonly origin: Label | null;
  readonly labels: ReadonlyMap<string, FieldLabel>;
  readonly reasons: readonly DraftReason[];
}

type FieldLabel = Label | { readonly own: 'generated' };

interface LabelReading {
  readonly tool: ToolDescription;
  readonly kind: SourceKind;
  readonly is_writing: boolean;
  readonly is_created: boolean;
  readonly labels: Map<string, FieldLabel>;
  readonly reasons: DraftReason[];
  /** The reason to trust a result that is one value. */
  whole: string | null;
}

/** Proposes where the values of a result come from. @param schema simplified; `null` if the server states none */
export function labelResult(
  tool: ToolDescription,
  kind: SourceKind,
  schema: JsonObject | null,
  isWriting: boolean,
): ResultDraft {
  const reading: LabelReading = {
    tool,
    kind,
    is_writing: isWriting,
    is_created: isWriting && isCreatingVerb(tool.name),
    labels: new Map(),
    reasons: [],
    whole: null,
  };
  if (schema !== null && !kind.is_open) readPlace(schema, { path: '', name: null, depth: 0 }, reading);
  const isBare = reading.labels.size === 0 && reading.whole === null && isWriting;
  const origin = isBare ? null : `${reading.whole === null ? 'untrusted' : 'trusted'}.${kind.name}`;
  const reason = reading.whole ?? describeOrigin(kind, schema);
  return {
    origin,
    labels: reading.labels,
    reasons: [...(origin === null ? [] : [{ place: ['emits', 'origin'], reason }]), ...reading.reasons],
  };
}

function describeOrigin({ writers, is_open }: SourceKind, schema: JsonObject | null): string {
  if (is_open) return 'the open internet: strangers write all of it';
  if (schema === null) return 'the server states no output schema: label its fields if you know them';
  return writers === 'strangers'
    ? 'texts and names in it are by others'
    : 'everything that is not labelled below';
}

interface Place {
  readonly path: string;
  /** The nearest name; `null` at the root, where the tool's name says it. */
  readonly name: string | null;
  readonly depth: number;
}

function readPlace(schema: JsonObject, place: Place, reading: LabelReading): void {
  if (place.depth > DEPTH_MAX || reading.labels.size >= LABELS_MAX) return;
  const properties = asObject(schema.properties);
  const items = asObject(schema.items);
  const values = asObject(schema.additionalProperties);
  const depth = place.depth + 1;
  if (properties !== null)
    for (const [name, each] of Object.entries(properties)) {
      if (isPathName(name))
        readPlace(each as JsonObject, { path: joinPath(place.path, name), name, depth }, reading);
    }
  else if (items !== null) readPlace(items, { path: `${place.path}[]`, name: place.name, depth }, reading);
  else if (values !== null) {
    addKeys(place, reading);
    readPlace(values, { path: joinPath(place.path, '*'), name: place.name, depth }, reading);
  } else if (schema.anyOf === undefined && schema.allOf === undefined) addLeaf(schema, place, reading);
}

function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isPathName(name: string): boolean {
  return /^[^.[\]]+$/.test(name) && name !== '*' && name !== KEYS_STEP && name !== LINES_STEP;
}

function addLabel(path: string, label: FieldLabel, reason: string, { labels, reasons }: LabelReading): void {
  if (parseLabelPath(path) === null || labels.size >= LABELS_MAX) return;
  labels.set(path, label);
  reasons.push({ place: ['emits', 'labels', path], reason });
}

/** The keys of a map are names that the keeper gives, if strangers do not write the content. */
function addKeys({ path }: Place, reading: LabelReading): void {
  if (reading.kind.writers !== 'records') return;
  addLabel(
    joinPath(path, KEYS_STEP),
    `trusted.${reading.kind.name}`,
    'keys: check that no stranger chooses them',
    reading,
  );
}

function addLeaf(schema: JsonObject, { path, name }: Place, reading: LabelReading): void {
  const words = name === null ? findObjectWords(reading.tool) : readNameWords(name);
  const reason = findTrust(words, schema, path === '', reading);
  if (reason === null) return;
  if (path === '') {
    reading.whole = reason;
    return;
  }
  const isOwn = reading.is_created && reason === IDENTIFIER;
  if (isOwn) addLabel(path, { own: 'generated' }, 'an identifier that this call makes', reading);
  else addLabel(path, `trusted.${reading.kind.name}`, reason, reading);
}

const IDENTIFIER = 'an identifier: strangers cannot choose it';

/** Returns the reason why strangers cannot choose a field's value; `null` if they perhaps can. */
function findTrust(
  words: string,
  schema: JsonObject,
  isWhole: boolean,
  { kind: { writers, name }, is_writing }: LabelReading,
): string | null {
  const role = findOwnRole(words, schema);
  if (role === 'choice') return 'one of a list';
  if (isNumber(schema.type)) return 'a number';
  if (!isText(schema.type)) return null;
  if (hasWord(words, ['name']) && writers === 'strangers') return null;
  if (isMadeIdentifier(words, role)) return IDENTIFIER;
  if (role === 'date') return 'a date or time';
  if (name === 'bank' && hasWord(words, ACCOUNTS) && !hasWord(words, OTHER_PARTIES))
    return 'an account that the bank assigns';
  if (isWhole) return null;
  // A tool that writes may return any object that it changed.
  if (writers === 'people' && is_writing) return null;
  if (writers === 'people')
    return hasWord(words, CARD_FIELDS) && !hasWord(words, FREE_TEXT) ? 'kept in your address book' : null;
  if (writers === 'records')
    return hasWord(getHead(words), ATTRIBUTES) ? 'a fact that the keeper maintains: check it' : null;
  return hasWord(getHead(words), PLACES) ? 'a place that your members name' : null;
}

function isMadeIdentifier(words: string, role: string): boolean {
  return role === 'identifier' && MADE_IDENTIFIERS.includes(getHead(words));
}

function listTypes(type: Json | undefined): readonly Json[] {
  return [type ?? null].flat().filter((each) => each !== 'null');
}

function isNumber(type: Json | undefined): boolean {
  const types = listTypes(type);
  return types.length > 0 && types.every((each) => each === 'number' || each === 'integer');
}

function isText(type: Json | undefined): boolean {
  const types = listTypes(type);
  return types.length === 1 && types[0] === 'string';
}
