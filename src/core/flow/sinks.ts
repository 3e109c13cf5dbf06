import { getContentSource, hasDuplicateKeys } from '../json/source.ts';
import { foldCase, isCoveredBy } from '../tags.ts';
import type {
  ArgumentFlow,
  Crossing,
  FlowAction,
  FlowTerms,
  Json,
  JsonObject,
  Label,
  SeenLabel,
  ToolContract,
  ValuesSeen,
} from '../types/index.ts';
import type { JsonNode } from '../types/json.ts';
import { isWholeOf, listCompositeParts } from './composites.ts';
import { ABSENT, addLabels, isUnknown, isUntrusted, OPERATOR, UNKNOWN, UNTRUSTED } from './labels.ts';
import { isSmallNumber, normalizeNumber } from './numbers.ts';
import { trimBlanks } from './pieces.ts';
import { ANY, findValueLabels, findWholeLabels, isPermittedValue, listShownLabels } from './value-labels.ts';

/** A term on value origins that a call violates. */
export interface FlowProblem {
  /** `arguments.recipient`, `others`, `intent`, `duplicates` or `unavailable`. */
  readonly term: string;
  readonly action: FlowAction;
  /** One sentence, without the value. */
  readonly reason: string;
  readonly path: string | null;
}

/** The origins of a call's arguments. */
export interface FlowCheck {
  readonly problems: readonly FlowProblem[];
  /** Labels by argument that the contract names. */
  readonly labels: Readonly<Record<string, readonly SeenLabel[]>>;
}

/** In `any_of`: permits values that carry nothing. */
export const TRIVIAL = 'trivial';

/** Checks where the values in a call's arguments come from. */
export function checkFlow(
  { content, values_seen: seen, task }: Pick<Crossing, 'content' | 'values_seen' | 'task'>,
  contract: ToolContract & { readonly flow: FlowTerms },
): FlowCheck {
  const { flow, tool_name } = contract;
  if (seen === undefined)
    return fail(
      'unavailable',
      `The contract of \`${tool_name}\` checks where values come from, and this session keeps none.`,
    );
  if (content.kind === 'text')
    return fail('unavailable', `The arguments of \`${tool_name}\` are text, so none has a name.`);
  const { root, text } = getContentSource(content);
  if (root.kind !== 'object') return fail('unavailable', `The arguments of \`${tool_name}\` have no names.`);
  if (hasDuplicateKeys(root)) return fail('duplicates', `An argument of \`${tool_name}\` is there twice.`);
  const listed = task?.refusal === null ? (task.listed_arguments ?? []) : [];
  const reading: FlowReading = { contract, flow, seen, text, listed, problems: [], labels: new Map() };
  const given = new Set<string>();
  for (const { key, value } of root.members) {
    if (isEmpty(value) && flow.arguments[key.value]?.optional === true) continue;
    given.add(key.value);
    checkArgument(reading, key.value, value);
  }
  for (const [name, { optional, otherwise }] of Object.entries(flow.arguments)) {
    if (given.has(name) || optional) continue;
    reading.labels.set(name, [{ label: ABSENT, event_id: null }]);
    const reason = `The argument \`${name}\` of \`${tool_name}\` is missing, so its value is not known.`;
    reading.problems.push({ term: `arguments.${name}`, action: otherwise, reason, path: null });
  }
  if (!hasIntent(flow.intent, seen)) {
    const reason = `The prompt of the person has no word that asks for \`${tool_name}\`: ${flow.intent.map((word) => `\`${word}\``).join(', ')}.`;
    reading.problems.push({ term: 'intent', action: flow.otherwise, reason, path: null });
  }
  return { problems: reading.problems, labels: Object.fromEntries(reading.labels) };
}

function fail(term: string, reason: string): FlowCheck {
  return { problems: [{ term, action: 'block', reason, path: null }], labels: {} };
}

/** Returns whether a value is `null`, or a list without anything else: it names nothing, as if it were left out. */
function isEmpty(value: JsonNode): boolean {
  return (
    value.kind === 'null' || (value.kind === 'array' && value.items.every(({ kind }) => kind === 'null'))
  );
}

interface FlowReading {
  readonly contract: ToolContract;
  readonly flow: FlowTerms;
  readonly seen: ValuesSeen;
  /** The arguments as JSON text. */
  readonly text: string;
  /** Arguments whose values the call's task lists. */
  readonly listed: readonly string[];
  readonly problems: FlowProblem[];
  readonly labels: Map<string, readonly SeenLabel[]>;
}

function checkArgument(reading: FlowReading, name: string, value: JsonNode): void {
  const { flow, contract, seen, problems } = reading;
  const isNamed = Object.hasOwn(flow.arguments, name);
  const terms = isNamed ? flow.arguments[name]! : flow.others;
  const schema = getMemberSchema(contract.arguments, name);
  const isListed = reading.listed.includes(name);
  const labels: SeenLabel[] = [];
  let refused: readonly SeenLabel[] | null = null;
  for (const leaf of listLeaves(value, schema)) {
    const { is_permitted, shown } = checkLeaf(leaf, terms, reading.text, seen);
    if (isListed) addLabels(labels, [{ label: OPERATOR, event_id: null }]);
    addLabels(labels, shown);
    if (!is_permitted && !(isListed && isListingEnough(shown, terms))) refused ??= shown;
  }
  if (isNamed) reading.labels.set(name, labels);
  if (refused === null) return;
  const term = isNamed ? `arguments.${name}` : 'others';
  if (problems.some((problem) => problem.term === term)) return;
  const subject = isNamed ? `\`${name}\`` : 'An argument that the contract does not name';
  problems.push({
    term,
    action: terms.otherwise,
    reason: `${subject} ${describeOrigin(refused, terms, seen)}.`,
    path: isNamed ? `$.${name}` : null,
  });
}

/** Returns whether a value passes because the call's task lists it. */
function isListingEnough(shown: readonly SeenLabel[], { any_of, none_of = [] }: ArgumentFlow): boolean {
  return isCoveredBy(any_of, OPERATOR) && !shown.some(({ label }) => isCoveredBy(none_of, label));
}

/** Returns "comes from `untrusted.mail` (event evt_1); the prompt does not name it". */
function describeOrigin(labels: readonly SeenLabel[], { any_of }: ArgumentFlow, seen: ValuesSeen): string {
  const [first] = labels;
  const names = any_of.includes('user') ? '; the prompt does not name it' : '';
  const accepted = ` (accepted: ${any_of.map((label) => `\`${label}\``).join(', ')})`;
  if (first === undefined || isUnknown(first.label))
    return `comes from nothing that this session has seen${names}${accepted}`;
  const event = first.event_id === null ? '' : ` (event ${first.event_id})`;
  const strangers = isUntrusted(first.label) ? ', content of strangers' : '';
  const full = seen.full.length > 0 ? '; the session has seen more values than it keeps' : '';
  return `comes from \`${first.label}\`${event}${strangers}${names}${full}${accepted}`;
}

/** A value in an argument: a scalar, a key, or an empty container. */
interface ArgumentLeaf {
  readonly node: JsonNode;
  readonly schema: JsonObject | null;
}

/**
 * Returns the values in an argument. Member names that the schema declares are not values. Does not recurse, so that
 * deep nesting is harmless.
 */
export function listLeaves(value: JsonNode, schema: JsonObject | null): readonly ArgumentLeaf[] {
  const leaves: ArgumentLeaf[] = [];
  const ahead: ArgumentLeaf[] = [{ node: value, schema }];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { node } = next;
    if (node.kind === 'array') {
      const items = getObject(next.schema?.items);
      if (node.items.length === 0) leaves.push(next);
      for (let at = node.items.length - 1; at >= 0; at--)
        ahead.push({ node: node.items[at]!, schema: items });
    } else if (node.kind === 'object') {
      if (node.members.length === 0) leaves.push(next);
      for (let at = node.members.length - 1; at >= 0; at--) {
        const { key, value: member } = node.members[at]!;
        const declared = getMemberSchema(next.schema, key.value);
        ahead.push({ node: member, schema: declared });
        if (declared === null) ahead.push({ node: key, schema: null });
      }
    } else leaves.push(next);
  }
  return leaves;
}

function getMemberSchema(schema: Json | null, name: string): JsonObject | null {
  const properties = getObject(getObject(schema)?.properties);
  return properties !== null && Object.hasOwn(properties, name) ? getObject(properties[name]) : null;
}

function getObject(value: Json | undefined): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** Returns a value as it is written, and whether numbers endorse it. */
export function readLeaf(
  { node, schema }: ArgumentLeaf,
  text: string,
): { readonly written: string; readonly is_number: boolean } {
  return {
    written: node.kind === 'string' ? node.value : text.slice(node.start, node.end),
    is_number: node.kind === 'number' || (node.kind === 'string' && isNumericSchema(schema)),
  };
}

interface LeafCheck {
  readonly is_permitted: boolean;
  readonly shown: readonly SeenLabel[];
}

function checkLeaf(
  { node, schema }: ArgumentLeaf,
  terms: ArgumentFlow,
  text: string,
  seen: ValuesSeen,
): LeafCheck {
  const { written, is_number: isNumber } = readLeaf({ node, schema }, text);
  if (isTrivial(node, written, schema))
    return {
      is_permitted: terms.any_of.includes(TRIVIAL) || isPermitted(written, isNumber, terms, seen),
      shown: [],
    };
  const isWhole = terms.type === undefined || isWholeOf(trimBlanks(written), terms.type);
  if (terms.none_of === undefined) {
    // A permitted value needs no search for hidden parts.
    if (terms.any_of.includes(ANY)) return { is_permitted: true, shown: [] };
    const whole = { whole: findWholeLabels(trimBlanks(written), isNumber, seen), parts: [] };
    if (isWhole && whole.whole.length > 0 && isPermittedValue(whole, terms.any_of, seen))
      return { is_permitted: true, shown: listShownLabels(whole, seen) };
  }
  const labels = findValueLabels(written, isNumber, seen);
  const shown = listShownLabels(labels, seen);
  const barring = shown.filter(({ label }) => isCoveredBy(terms.none_of ?? [], label));
  if (barring.length > 0) return { is_permitted: false, shown: barring };
  // A stranger's value that was not kept would be refused too.
  if (seen.full.includes('untrusted') && terms.none_of?.some(isUntrusted) === true)
    return { is_permitted: false, shown: [{ label: UNTRUSTED, event_id: null }] };
  if (isWhole && isPermittedValue(labels, terms.any_of, seen)) return { is_permitted: true, shown };
  if (terms.type === undefined || node.kind !== 'string') return { is_permitted: false, shown };
  return checkParts(listCompositeParts(written, terms.type), terms, seen, shown);
}

function isPermitted(text: string, isNumber: boolean, terms: ArgumentFlow, seen: ValuesSeen): boolean {
  return isPermittedValue(findValueLabels(text, isNumber, seen), terms.any_of, seen);
}

/** Every part must pass. The labels of the first part that does not pass are shown first. */
function checkParts(
  parts: readonly (string | null)[],
  terms: ArgumentFlow,
  seen: ValuesSeen,
  whole: readonly SeenLabel[],
): LeafCheck {
  const shown: SeenLabel[] = [];
  for (const part of parts) {
    if (part === null) return { is_permitted: false, shown: [{ label: UNKNOWN, event_id: null }] };
    const labels = findValueLabels(part, false, seen);
    const partShown = listShownLabels(labels, seen);
    if (!isPermittedValue(labels, terms.any_of, seen)) return { is_permitted: false, shown: partShown };
    addLabels(shown, partShown);
  }
  return { is_permitted: true, shown: shown.length === 0 ? whole : shown };
}

/** Returns whether a value carries nothing: a number below 100, a JSON word, an enumeration member, or nothing. */
export function isTrivial(node: JsonNode, written: string, schema: JsonObject | null): boolean {
  if (node.kind === 'number') {
    const plain = normalizeNumber(written);
    return plain !== null && isSmallNumber(plain);
  }
  if (node.kind !== 'string') return true;
  if (written.trim() === '') return true;
  const members = schema?.enum;
  return (Array.isArray(members) && members.includes(written)) || schema?.const === written;
}

function isNumericSchema(schema: JsonObject | null): boolean {
  const types = [schema?.type ?? null].flat();
  return types.includes('number') || types.includes('integer');
}

/** Returns whether the person's prompts have one of the words, in any usual case. */
function hasIntent(words: readonly string[], seen: ValuesSeen): boolean {
  return words.length === 0 || words.some((word) => listCases(word).some((each) => isUserWord(each, seen)));
}

function listCases(word: string): readonly string[] {
  const lower = foldCase(word);
  return [
    ...new Set([word, lower, `${lower.slice(0, 1).toUpperCase()}${lower.slice(1)}`, lower.toUpperCase()]),
  ];
}

function isUserWord(word: string, seen: ValuesSeen): boolean {
  return seen
    .findLabels(seen.hashValue('exact', word))
    .some(({ label }: { readonly label: Label }) => label === 'user' || label === 'operator');
}
