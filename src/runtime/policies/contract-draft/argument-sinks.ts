import type { Json, JsonObject, Label } from '../../../core/types/index.ts';
import { type ArgumentRole, asObject, findArgumentRole } from './argument-roles.ts';
import { isCreatingVerb, isIrreversibleVerb, listIntentWords } from './intent-words.ts';
import type { SourceKind } from './source-kinds.ts';
import type { DraftReason, ToolDescription } from './tool-description.ts';
import { hasWord, listWords, readNameWords } from './words.ts';

/** The proposed terms on a tool's arguments, and its effects. */
export interface SinkDraft {
  readonly flow: JsonObject | null;
  readonly is_irreversible: boolean;
  readonly requires_approval: boolean;
  readonly has_egress: boolean;
  readonly reasons: readonly DraftReason[];
}

export interface SinkInput {
  readonly tool: ToolDescription;
  readonly kind: SourceKind;
  /** Simplified; `null` if the server states none. */
  readonly schema: JsonObject | null;
  readonly is_writing: boolean;
  /** Trusted labels that some contract gives to a result. */
  readonly given: readonly Label[];
}

/** Tools whose arguments move money. */
const MONEY = listWords(
  'money pay payment transfer transaction refund wire withdraw deposit invoice bank payout payee purchase',
);

/** Content that others outside the organisation read. */
const LEAVING_KINDS = ['mail', 'chat', 'reviews', 'web', 'ticket'];

/** Labels for people that money may go to, and for those that a message may go to. */
const PAYEE_LABELS: readonly Label[] = ['trusted.contacts'];
const ADDRESS_LABELS: readonly Label[] = ['trusted.contacts', 'trusted.members'];

/** Arguments for places in a workspace, and the labels for those. */
const PLACES = listWords('channel room');
const PLACE_LABELS: readonly Label[] = ['own', 'trusted.chat'];

const GENERAL: readonly Label[] = ['user', 'own', 'trusted', 'trivial'];

interface Terms {
  readonly any_of: readonly Label[];
  readonly type?: 'url' | 'addresses' | 'text';
  readonly reason: string;
}

/** Proposes the labels that arguments need. */
export function draftSinks(input: SinkInput): SinkDraft {
  const names = Object.entries(asObject(input.schema?.properties) ?? {});
  const roles = names.map(([name, schema]) => [name, findArgumentRole(name, asObject(schema))] as const);
  return input.is_writing ? draftWritingSinks(input, roles) : draftReadingSinks(input, roles);
}

type NamedRoles = readonly (readonly [name: string, role: ArgumentRole])[];

function draftWritingSinks(input: SinkInput, roles: NamedRoles): SinkDraft {
  const { tool, kind } = input;
  const has = (...wanted: readonly ArgumentRole[]) => roles.some(([, role]) => wanted.includes(role));
  const isLeaving = kind.is_open || LEAVING_KINDS.includes(kind.name);
  const hasEgress = has('destination', 'url') || (isLeaving && has('text', 'query', 'path', 'other'));
  const isMoney = hasWord(readNameWords(tool.name), MONEY) || (kind.name === 'bank' && has('amount'));
  const situation = { ...input, has_egress: hasEgress, is_money: isMoney };
  const sinks = buildSinks(roles, input, (role, name) => getWritingTerms(role, name, situation));
  const isIrreversible =
    tool.hints.destroys === true ||
    isIrreversibleVerb(tool.name) ||
    has('destination', 'credential', 'permission');
  const intent = isIrreversible ? listIntentWords(tool.name, isMoney) : [];
  const others: DraftReason = {
    place: ['flow', 'others'],
    reason: 'arguments that the contract does not name',
  };
  const asked: DraftReason = {
    place: ['flow', 'intent'],
    reason: 'the prompt must ask for it with one of these words',
  };
  return {
    flow: {
      ...(Object.keys(sinks.terms).length > 0 && { arguments: sinks.terms }),
      others: { any_of: [...GENERAL] },
      ...(intent.length > 0 && { intent: [...intent] }),
      otherwise: 'require_approval',
    },
    is_irreversible: isIrreversible,
    requires_approval: isIrreversible && intent.length === 0 && roles.length === 0,
    has_egress: hasEgress,
    reasons: [...sinks.reasons, others, ...(intent.length > 0 ? [asked] : [])],
  };
}

/** A tool that only reads has terms for arguments that carry data out. */
function draftReadingSinks(input: SinkInput, roles: NamedRoles): SinkDraft {
  const { kind } = input;
  const sinks = buildSinks(roles, input, (role, name) =>
    getReadingTerms(role, asObject(asObject(input.schema?.properties)?.[name]), kind),
  );
  const hasSinks = Object.keys(sinks.terms).length > 0;
  const others: DraftReason = {
    place: ['flow', 'others'],
    reason: 'a tool that only reads: these carry nothing out',
  };
  return {
    flow: hasSinks
      ? { arguments: sinks.terms, others: { any_of: ['any'] }, otherwise: 'require_approval' }
      : null,
    is_irreversible: false,
    requires_approval: false,
    has_egress: hasSinks,
    reasons: hasSinks ? [...sinks.reasons, others] : [],
  };
}

function buildSinks(
  roles: NamedRoles,
  { tool, schema }: SinkInput,
  getTerms: (role: ArgumentRole, name: string) => Terms | null,
): { readonly terms: JsonObject; readonly reasons: readonly DraftReason[] } {
  const required = Array.isArray(schema?.required) ? schema.required : [];
  const terms: [string, Json][] = [];
  const reasons: DraftReason[] = [];
  for (const [name, role] of roles) {
    const found = getTerms(role, name);
    if (found === null) continue;
    const { any_of, type, reason } = found;
    const optional = !required.includes(name);
    terms.push([
      name,
      { any_of: [...any_of], ...(type !== undefined && { type }), ...(optional && { optional }) },
    ]);
    reasons.push({ place: ['flow', 'arguments', name], reason: reason + describePast(tool, name) });
  }
  return { terms: Object.fromEntries(terms), reasons };
}

const LABELS_SHOWN_MAX = 8;

/** Returns the labels of past values, for the operator to compare. */
function describePast({ observed }: ToolDescription, name: string): string {
  const all = observed?.origins ?? {};
  const labels = (Object.hasOwn(all, name) ? all[name]! : []).filter((label) =>
    /^[a-z0-9_.-]{1,64}$/.test(label),
  );
  return labels.length === 0 ? '' : `; in past calls: ${labels.slice(0, LABELS_SHOWN_MAX).join(', ')}`;
}

interface WritingSituation extends SinkInput {
  readonly has_egress: boolean;
  readonly is_money: boolean;
}

function getWritingTerms(role: ArgumentRole, name: string, situation: WritingSituation): Terms {
  const { has_egress, is_money, given, kind, schema, tool } = situation;
  if (role === 'credential') return { any_of: ['user'], reason: 'a secret: only the person' };
  if (role === 'permission')
    return { any_of: ['user'], reason: 'who may do what from now on: only the person' };
  if (role === 'destination') return getDestinationTerms(name, situation);
  if (role === 'url')
    return { any_of: ['user', 'own', 'trusted'], type: 'url', reason: 'an address to which data may go' };
  if (role === 'amount') {
    const bank = given.filter((label) => label === 'trusted.bank');
    return is_money || kind.name === 'bank'
      ? {
          any_of: ['user', ...bank],
          reason: bank.length > 0 ? 'money: only the person or your bank' : 'money: only the person',
        }
      : { any_of: ['user', 'own', 'trusted'], reason: 'an amount' };
  }
  if (role === 'text' && kind.writers === 'people' && !has_egress)
    return { any_of: [...GENERAL, 'unknown'], reason: 'said of a person: none of a stranger' };
  if (role === 'text' || role === 'query') return getTextTerms(has_egress);
  if (role === 'date')
    return {
      any_of: [...GENERAL, 'unknown'],
      reason: 'a date or time: also one that the model writes, but none of a stranger',
    };
  if (role === 'identifier') return { any_of: GENERAL, reason: 'says which object' };
  if (role === 'choice') return { any_of: GENERAL, reason: 'one of a list' };
  if (role === 'path') {
    const isNew = readNameWords(name).endsWith('filename') && isCreatingVerb(tool.name);
    return isNew
      ? { any_of: [...GENERAL, 'unknown'], reason: 'a new name: also one that the model writes' }
      : { any_of: GENERAL, reason: 'says which file' };
  }
  const type = asObject(asObject(schema?.properties)?.[name])?.type;
  return { any_of: GENERAL, reason: type === 'string' ? 'its role is not known: check it' : 'a value' };
}

function getDestinationTerms(name: string, { given, is_money, schema }: WritingSituation): Terms {
  const words = readNameWords(name);
  const isPlace = !is_money && hasWord(words, PLACES);
  const labels = isPlace ? PLACE_LABELS : is_money ? PAYEE_LABELS : ADDRESS_LABELS;
  const known = labels.filter((label) => label === 'own' || given.includes(label));
  const isList =
    asObject(asObject(schema?.properties)?.[name])?.type === 'string' && /s$|^(?:to|cc|bcc)$/i.test(name);
  const type = isList ? { type: 'addresses' as const } : {};
  if (isPlace)
    return {
      any_of: ['user', ...known],
      ...type,
      reason: 'where it goes: only a place that the person names or your members made',
    };
  const subject = is_money ? 'who receives money' : 'who receives it';
  const whom = known.length > 0 ? 'only the person, or your contacts and members' : 'only the person';
  return { any_of: ['user', ...known], ...type, reason: `${subject}: ${whom}` };
}

function getTextTerms(hasEgress: boolean): Terms {
  return hasEgress
    ? { any_of: GENERAL, type: 'text', reason: 'free text, but addresses and links in it must be known' }
    : { any_of: ['any'], reason: 'free text' };
}

function getReadingTerms(
  role: ArgumentRole,
  schema: JsonObject | null,
  { is_open }: SourceKind,
): Terms | null {
  if (role === 'url')
    return { any_of: ['user', 'own', 'trusted'], type: 'url', reason: 'an address can carry data out' };
  const isNumber = schema?.type === 'integer' || schema?.type === 'number';
  if (!is_open || isNumber || role === 'choice' || role === 'date') return null;
  return {
    any_of: GENERAL,
    type: 'text',
    reason: 'leaves the organisation: addresses and links in it must be known',
  };
}
