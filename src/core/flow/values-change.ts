import { createContent, parseJsonContent } from '../json/source.ts';
import { type JsonLeaf, walkContent } from '../json/walk.ts';
import { normalizeTag } from '../tags.ts';
import type {
  Content,
  Crossing,
  Json,
  JsonObject,
  Label,
  ScanLimits,
  ToolContract,
  ValueForm,
  ValueQuota,
  ValuesChange,
  ValuesSeen,
} from '../types/index.ts';
import { addUntrustedAtoms, findPromptAtoms, findSourceAtoms, type UntrustedAtoms } from './atoms.ts';
import { listEchoes } from './echoes.ts';
import { foldValue, listDecodings } from './fold-value.ts';
import { buildPlaceStep, getLabelFinder, KEYS_STEP, LINES_STEP } from './label-paths.ts';
import {
  buildArgumentLabel,
  buildToolLabel,
  endTrust,
  isPermitting,
  isUnknown,
  isUntrusted,
  listGivenLabels,
  listTrustedLabels,
  USER_SOURCE,
} from './labels.ts';
import { isSmallNumber, normalizeNumber } from './numbers.ts';
import { ATOM_UNITS_MAX, isPlaceholderText, type Piece, trimBlanks } from './pieces.ts';
import { getValueQuota, VALUE_QUOTAS } from './quotas.ts';
import { findShingles } from './shingles.ts';
import { findWholeLabels } from './value-labels.ts';

/** The label for everything that an agent reads from its memory, and for messages from other agents. */
const MEMORY: Label = 'untrusted.memory';
const AGENTS: Label = 'untrusted.agents';
const FILE: Label = 'untrusted.file';

/**
 * Returns what a crossing that passes adds to its session's values; `null` if that is nothing. Reads the original
 * content, before masks, because values reach the agent in other ways too.
 */
export function computeValuesChange(
  crossing: Crossing,
  contract: ToolContract | null,
  limits: ScanLimits,
  keepsSources: boolean,
): ValuesChange | null {
  const seen = crossing.values_seen;
  if (seen === undefined) return null;
  const draft = createDraft(seen, keepsSources, crossing.phase === 'message');
  addCrossing(draft, crossing, contract, limits);
  const add = [...draft.added.values()];
  return add.length + draft.end.size === 0 ? null : { add, end: [...draft.end].sort() };
}

interface ChangeDraft {
  readonly seen: ValuesSeen;
  readonly added: Map<string, ValuesChange['add'][number]>;
  readonly counts: Record<keyof typeof VALUE_QUOTAS, number>;
  readonly end: Set<Label>;
  /** True if a contract permits values from sources that the person named. */
  readonly keeps_sources: boolean;
  /** True for a message, which another agent's session keeps: what this one has seen says nothing about that one. */
  readonly is_sent: boolean;
}

function createDraft(seen: ValuesSeen, keepsSources: boolean, isSent: boolean): ChangeDraft {
  return {
    seen,
    keeps_sources: keepsSources,
    is_sent: isSent,
    added: new Map(),
    counts: { user: 0, trusted: 0, untrusted: 0, shingle: 0 },
    end: new Set(),
  };
}

/** Returns whether the session that keeps the change is known to have no place for an entry. */
function isFull({ seen, is_sent: isSent }: ChangeDraft, quota: ValueQuota): boolean {
  return !isSent && seen.full.includes(quota);
}

/** Adds an entry. One more than the quota is kept, so that the store records that it is used up. */
function addEntry(draft: ChangeDraft, form: ValueForm, hash: string, label: Label): void {
  const { seen, added, counts, is_sent: isSent } = draft;
  const quota = getValueQuota(form, label);
  if (isFull(draft, quota) || counts[quota] > VALUE_QUOTAS[quota]) return;
  const key = `${hash} ${label}`;
  if (added.has(key)) return;
  if (!isSent && seen.findLabels(hash).some((known) => known.label === label)) return;
  counts[quota] += 1;
  added.set(key, { hash, form, label });
}

function addValue(draft: ChangeDraft, form: ValueForm, text: string, label: Label): void {
  addEntry(draft, form, draft.seen.hashValue(form, text), label);
}

function addCrossing(
  draft: ChangeDraft,
  crossing: Crossing,
  contract: ToolContract | null,
  limits: ScanLimits,
): void {
  const { boundary, phase, content, memory, tool } = crossing;
  const declared = crossing.declared_tags.map(normalizeTag).find(isUntrusted);
  if (boundary === 'output') return;
  if (boundary === 'input') {
    const label = declared ?? crossing.content_label ?? (crossing.is_from_outside === true ? FILE : null);
    if (label !== null) addText(draft, content, label, limits);
    return;
  }
  if (memory !== undefined) {
    if (phase === 'response') addText(draft, content, declared ?? MEMORY, limits);
  } else if (phase === 'message') {
    addText(draft, content, declared ?? crossing.content_label ?? AGENTS, limits);
    addSentLabels(draft, content, limits);
  } else if (phase === 'response') {
    const origin = contract?.emits.origin ?? buildToolLabel(tool);
    if (declared !== undefined || holdsMedia(content, limits))
      addText(draft, content, declared ?? buildToolLabel(tool), limits);
    else addResult(draft, crossing, { origin, labels: contract?.emits.labels ?? NO_LABELS }, limits);
  } else addCall(draft, crossing, contract, limits);
}

const NO_LABELS: Readonly<Record<string, Label>> = Object.freeze({});

/** Adds a content that has one label. */
function addText(draft: ChangeDraft, content: Content, label: Label, limits: ScanLimits): void {
  const atoms = createAtoms();
  const inForce = endTrust(label, draft.seen.ended);
  const add = (text: string): void => {
    if (inForce === 'user' || inForce === 'operator') addPrompt(draft, text, inForce);
    else if (isPermitting(inForce)) addTrusted(draft, text, null, inForce);
    else if (isUntrusted(inForce)) addUntrusted(draft, atoms, text, inForce);
  };
  if (content.kind === 'text') add(content.text);
  else walkContent(content, limits, ({ text }) => add(text));
  addAtoms(draft, atoms, inForce);
}

/** Adds what a message passes on: values that permit something in the sender's session, under the same labels. */
function addSentLabels(draft: ChangeDraft, content: Content, limits: ScanLimits): void {
  const { seen } = draft;
  const pass = (form: ValueForm, values: readonly string[]): void => {
    for (const value of values) {
      const hash = seen.hashValue(form, value);
      for (const { label } of seen.findLabels(hash))
        if (isPermitting(label) && endTrust(label, seen.ended) === label) addEntry(draft, form, hash, label);
    }
  };
  const add = (text: string): void => {
    const { exact, numbers } = findPromptAtoms(text, () => false);
    pass('exact', exact);
    pass('number', numbers);
  };
  if (content.kind === 'text') add(content.text);
  else walkContent(content, limits, ({ text }) => add(text));
}

/** Prompts with so many words could share a shingle with strangers' content. */
const PASTED_WORDS_MIN = 16;
const PROMPT_SHINGLES_MAX = 4_096;

/**
 * Adds the values that a prompt endorses. If it shares shingles with strangers' content, it endorses nothing in and
 * between them, and no value that a stranger wrote. If no more of strangers' content is kept, a prompt that may have a
 * part of it endorses nothing.
 */
function addPrompt(draft: ChangeDraft, text: string, label: Label): void {
  const { seen } = draft;
  if (seen.full.includes('user')) return;
  if (seen.full.includes('shingle') && text.split(/\s+/, PASTED_WORDS_MIN).length >= PASTED_WORDS_MIN) return;
  const shared = findShingles(text, seen.hashValue, PROMPT_SHINGLES_MAX).filter(({ hash }) =>
    seen.findLabels(hash).some((known) => isUntrusted(known.label)),
  );
  const isPasted = shared.length > 0;
  if (isPasted && seen.full.includes('untrusted')) return;
  const start = Math.min(...shared.map((each) => each.start));
  const end = Math.max(...shared.map((each) => each.end));
  const isExcluded = (piece: Piece): boolean =>
    isPasted && ((piece.start < end && piece.end > start) || isSeenUntrusted(seen, piece.text));
  const { exact, numbers } = findPromptAtoms(text, isExcluded);
  for (const value of exact) addValue(draft, 'exact', value, label);
  for (const value of numbers) addValue(draft, 'number', value, label);
}

function isSeenUntrusted(seen: ValuesSeen, text: string): boolean {
  return findFolded(seen, text).some(isUntrusted);
}

function findFolded(seen: ValuesSeen, text: string): readonly Label[] {
  return seen.findLabels(seen.hashValue('folded', foldValue(text))).map(({ label }) => label);
}

function addUntrusted(draft: ChangeDraft, atoms: UntrustedAtoms, text: string, label: Label): void {
  const { hashValue } = draft.seen;
  const max = VALUE_QUOTAS.untrusted + 1;
  if (!isFull(draft, 'untrusted') && atoms.folded.size < max) addUntrustedAtoms(atoms, text, max);
  if (isFull(draft, 'shingle')) return;
  for (const { hash } of findShingles(text, hashValue, VALUE_QUOTAS.shingle + 1))
    addEntry(draft, 'shingle', hash, label);
}

function createAtoms(): UntrustedAtoms {
  return { folded: new Set(), numbers: new Set() };
}

function addAtoms(draft: ChangeDraft, { folded, numbers }: UntrustedAtoms, label: Label): void {
  for (const value of folded) addValue(draft, 'folded', value, label);
  for (const value of numbers) addValue(draft, 'number', value, label);
}

/** Adds a value as a whole. Its parts are not trusted, because a free-text field may hold anything. */
function addTrusted(draft: ChangeDraft, text: string, kind: JsonLeaf['kind'] | null, label: Label): void {
  const value = trimBlanks(text);
  if (value === '' || value.length > ATOM_UNITS_MAX || isPlaceholderText(value)) return;
  const number = kind === 'number' ? normalizeNumber(value) : null;
  if (number !== null) addValue(draft, 'number', number, label);
  else addValue(draft, 'exact', value, label);
}

/** Values that are kept per text from a named source, at most. */
const SOURCE_ATOMS_MAX = 64;

function addSource(draft: ChangeDraft, text: string): void {
  const { hashValue } = draft.seen;
  const { exact, numbers } = findSourceAtoms(text, SOURCE_ATOMS_MAX);
  for (const value of exact) addValue(draft, 'exact', value, USER_SOURCE);
  for (const value of numbers) addValue(draft, 'number', value, USER_SOURCE);
  for (const { hash } of findShingles(text, hashValue, VALUE_QUOTAS.shingle + 1))
    addEntry(draft, 'shingle', hash, USER_SOURCE);
}

interface TrustedLeaf {
  readonly text: string;
  readonly kind: JsonLeaf['kind'];
  readonly label: Label;
}

/** Adds a result field by field. Trusted fields come last, because strangers' values in it are known by then. */
function addResult(
  draft: ChangeDraft,
  { content: written, tool }: Crossing,
  { origin, labels }: { readonly origin: Label; readonly labels: Readonly<Record<string, Label>> },
  limits: ScanLimits,
): void {
  const { seen } = draft;
  const finder = getLabelFinder(labels);
  const isSource = isNamedSource(draft, tool);
  const { fields: content, texts } = openResult(written, limits);
  const atoms = new Map<Label, UntrustedAtoms>();
  const trusted: TrustedLeaf[] = [];
  const add = (text: string, kind: JsonLeaf['kind'], given: Label): void => {
    const label = endTrust(given, seen.ended);
    if (isPermitting(label)) trusted.push({ text, kind, label });
    else {
      if (isSource) addSource(draft, text);
      const found = atoms.get(label) ?? createAtoms();
      atoms.set(label, found);
      addUntrusted(draft, found, text, label);
    }
  };
  const addLeaf = (text: string, kind: JsonLeaf['kind'], place: readonly string[]): void => {
    const lines = finder.find(place, LINES_STEP);
    if (lines === null) add(text, kind, finder.find(place) ?? origin);
    else for (const line of listLines(text)) add(line, kind, lines);
  };
  for (const text of texts) add(text, 'string', origin);
  if (content.kind === 'text') addLeaf(content.text, 'string', []);
  else
    walkContent(content, limits, ({ kind, text, frames }) => {
      const place = frames.map(({ keys, index }) => buildPlaceStep(keys === null ? null : keys[index]!));
      if (kind !== 'key') addLeaf(text, kind, place);
      else {
        const above = place.slice(0, -1);
        const label = finder.find(above, KEYS_STEP);
        const rest = finder.find(above) ?? origin;
        // Member names are seldom values, so that a trusted result does not make them trusted.
        if (label !== null) add(text, kind, label);
        else if (!isPermitting(rest)) add(text, kind, rest);
      }
    });
  for (const [label, found] of atoms) addAtoms(draft, found, label);
  const strangers = [...atoms.values()];
  // Some of its arguments are not known, so that it may repeat them.
  if (seen.findLabels(seen.hashValue('folded', buildLongCallMark(tool))).length > 0) return;
  for (const { text, kind, label } of trusted) {
    const known = findFolded(seen, kind === 'number' ? (normalizeNumber(text) ?? text) : trimBlanks(text));
    // A generated value is not new if any tool got it before.
    const isEcho = label === 'own' ? known.some(isUnknown) : known.includes(buildArgumentLabel(tool));
    const isForeign =
      seen.full.includes('untrusted') ||
      known.some(isUntrusted) ||
      strangers.some(({ folded }) => folded.has(foldValue(trimBlanks(text))));
    if (!isEcho && (label !== 'own' || !isForeign)) addTrusted(draft, text, kind, label);
  }
}

/** The part of a result that has the fields which labels name, and texts next to it. */
interface OpenedResult {
  readonly fields: Content;
  readonly texts: readonly string[];
}

/**
 * Opens a result. Labels count in JSON that a tool returns as text, and in an MCP server's result: in
 * `structuredContent`, or in its only text.
 */
function openResult(written: Content, limits: ScanLimits): OpenedResult {
  if (written.kind === 'text') return { fields: parseResultText(written.text, limits), texts: [] };
  const blocks = listMcpTexts(written.value);
  if (blocks === null) return { fields: written, texts: [] };
  const { structuredContent: structured = null } = written.value as JsonObject;
  const [text = ''] = blocks;
  if (structured === null)
    return blocks.length === 1
      ? { fields: parseResultText(text, limits), texts: [] }
      : { fields: { kind: 'json', value: blocks }, texts: [] };
  const fields = createContent(structured);
  // A server repeats the fields as text, for clients that know no fields.
  return { fields, texts: blocks.filter((block) => !isJsonOf(block, structured)) };
}

/** Returns the texts in an MCP result; `null` if a value is none, or has anything else. */
function listMcpTexts(value: Json): readonly string[] | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { content, ...rest } = value as JsonObject;
  const isResult = Object.keys(rest).every((key) => MCP_KEYS.includes(key));
  if (!isResult || !Array.isArray(content) || content.length === 0) return null;
  const texts = content.flatMap((block: Json) => {
    const { type, text } = (block ?? {}) as { readonly type?: Json; readonly text?: Json };
    return type === 'text' && typeof text === 'string' ? [text] : [];
  });
  return texts.length === content.length ? texts : null;
}

const MCP_KEYS = ['structuredContent', 'isError', '_meta'];

function isJsonOf(text: string, value: Json): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

/** Reads JSON that a tool returns as text. */
function parseResultText(text: string, limits: ScanLimits): Content {
  return /^\s*[[{]/.test(text) ? parseJsonContent(text, limits) : createContent(text);
}

/** Returns the lines in a text, each also without a name in front: `Hotels: Good Night` and `Good Night`. */
function listLines(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const value = /^[^:\n]{1,64}: (.+)$/.exec(line)?.[1];
    return value === undefined ? [line] : [line, value];
  });
}

const MEDIA_KEY = /^(?:mime_?type|media_?type)$/i;
const MEDIA_DATA_KEY = /^(?:data|blob|bytes|base64)$/i;

/** Returns whether a content has an image or other data that is not text, whose words are not known. */
function holdsMedia(content: Content, limits: ScanLimits): boolean {
  if (content.kind === 'text') return false;
  let key = '';
  let hasType = false;
  let hasData = false;
  walkContent(content, limits, ({ kind, text, is_member }) => {
    if (kind === 'key') key = text;
    else if (is_member) {
      hasType ||= MEDIA_KEY.test(key) && !/^text\/|json/i.test(text);
      hasData ||= MEDIA_DATA_KEY.test(key);
    }
  });
  return hasType && hasData;
}

/** Different values of a call that are joined in pairs, at most: each pair is an entry of the session's quota. */
const JOINED_VALUES_MAX = 8;

function joinPairs(values: ReadonlySet<string>): readonly string[] {
  const all = [...values];
  return all.flatMap((one) => all.filter((other) => other !== one).map((other) => one + other));
}

/** Values that are recorded per call, at most. */
const CALL_VALUES_MAX = 1_024;

/**
 * Records the argument values without a label that permits, so that their echo is known. A tool that writes to a
 * trusted store with such a value ends that trust.
 */
function addCall(
  draft: ChangeDraft,
  { content, tool, task }: Crossing,
  contract: ToolContract | null,
  limits: ScanLimits,
): void {
  const { seen } = draft;
  const mark = buildArgumentLabel(tool);
  const givesTrust = contract !== null && listTrustedLabels(contract).length > 0;
  const addMark = (value: string): void => {
    if (value.length <= ATOM_UNITS_MAX && !isPlaceholderText(value))
      addValue(draft, 'folded', foldValue(value), mark);
  };
  let count = 0;
  let named = 0;
  let unlabelled = 0;
  // One more than are joined, so that more are known to be there.
  const written = new Set<string>();
  const add = (text: string, isNumber: boolean): void => {
    const value = trimBlanks(text);
    if (value !== '' && value.length <= ATOM_UNITS_MAX && written.size <= JOINED_VALUES_MAX)
      written.add(value);
    if (value === '' || isTrivialNumber(value, isNumber)) return;
    count += 1;
    if (count > CALL_VALUES_MAX) return;
    const labels = findWholeLabels(value, isNumber, seen);
    if (labels.some(({ label }) => label === 'user')) named += 1;
    if (labels.some(({ label }) => isPermitting(label))) return;
    unlabelled += 1;
    if (contract?.writes !== undefined) draft.end.add(contract.writes);
    const number = isNumber ? normalizeNumber(value) : null;
    addMark(number ?? value);
    const echoes = givesTrust ? listEchoes(value) : listDecodings(value);
    if (echoes === null) addValue(draft, 'folded', buildLongCallMark(tool), mark);
    else for (const echo of echoes) addMark(echo);
  };
  if (content.kind === 'text') add(content.text, false);
  else
    walkContent(content, limits, ({ kind, text }) => {
      if (kind !== 'key') add(text, kind === 'number');
    });
  if (contract !== null && listGivenLabels(contract).some(isPermitting)) {
    if (written.size <= JOINED_VALUES_MAX) for (const joined of joinPairs(written)) addMark(joined);
    // Two of so many values could come back joined, so that no result of the tool becomes trusted.
    else if (unlabelled > 0) addValue(draft, 'folded', buildLongCallMark(tool), mark);
  }
  const callMark = seen.hashValue('shingle', buildCallMark(tool));
  // A call without a task, too, ends what earlier calls made a source.
  if (draft.keeps_sources || task?.is_source !== undefined || seen.findLabels(callMark).length > 0) {
    const isSource = task?.is_source === true || (count > 0 && named === count);
    addEntry(draft, 'shingle', callMark, isSource ? USER_SOURCE : mark);
  }
  if (count <= CALL_VALUES_MAX) return;
  if (contract?.writes !== undefined) draft.end.add(contract.writes);
  // The other values could not be recognised in a result, so that no more values may become trusted.
  for (let at = 0; at <= VALUE_QUOTAS.trusted; at++) addValue(draft, 'folded', `argument ${at}`, mark);
}

/** The text under which a session remembers that a tool got arguments that are not known. No folded value has a space. */
function buildLongCallMark(tool: string | null): string {
  return `long call ${tool ?? ''}`;
}

/** The text under which a session remembers how a tool was called. It has fewer words than a content shingle. */
function buildCallMark(tool: string | null): string {
  return `call ${tool ?? ''}`;
}

/**
 * Returns whether the person named, with the exact words, each argument in all calls to a tool in this session, or the
 * task lists them.
 */
function isNamedSource({ seen }: ChangeDraft, tool: string | null): boolean {
  if (seen.full.includes('shingle')) return false;
  const marks = seen.findLabels(seen.hashValue('shingle', buildCallMark(tool)));
  return marks.length > 0 && marks.every(({ label }) => label === USER_SOURCE);
}

function isTrivialNumber(value: string, isNumber: boolean): boolean {
  const number = isNumber ? normalizeNumber(value) : null;
  return number !== null && isSmallNumber(number);
}
