import { covers, foldCase, isCoveredBy } from '../tags.ts';
import type { Label, SeenLabel, ToolContract } from '../types/index.ts';

/** Labels that permit a value, each with its descendants. */
export const PERMITTING_LABELS: readonly Label[] = ['user', 'user_source', 'operator', 'own', 'trusted'];

/** All label families that a document may name. */
export const LABEL_FAMILIES: readonly Label[] = [...PERMITTING_LABELS, 'untrusted'];

/** The label for a value in a result that a person requested by its source's exact name. */
export const USER_SOURCE: Label = 'user_source';

/** The label for a value that the operator's prompt or the call's task lists. */
export const OPERATOR: Label = 'operator';

/** The label for a value that no content in the session had. */
export const UNKNOWN: Label = 'unknown';

/** The label for an argument that a call leaves out. */
export const ABSENT: Label = 'absent';

/** The family for content that strangers can write. */
export const UNTRUSTED: Label = 'untrusted';

const TRUSTED = 'trusted';

/** Returns whether a label can permit a value. */
export function isPermitting(label: Label): boolean {
  return isCoveredBy(PERMITTING_LABELS, label);
}

/** Returns whether a label marks content that strangers can write. */
export function isUntrusted(label: Label): boolean {
  return covers(UNTRUSTED, label);
}

/** Returns whether a label says that no content in the session had a value, but perhaps an argument had it. */
export function isUnknown(label: Label): boolean {
  return covers(UNKNOWN, label);
}

const TOOL_UNITS_MAX = 100;

/** Returns the label for a result whose contract states none: `untrusted.read_inbox`. */
export function buildToolLabel(tool: string | null): Label {
  return `${UNTRUSTED}.${formatTool(tool)}`;
}

/** Returns the label for an argument value that has no other: `unknown.get_contacts`. */
export function buildArgumentLabel(tool: string | null): Label {
  return `${UNKNOWN}.${formatTool(tool)}`;
}

function formatTool(tool: string | null): string {
  const name = foldCase(tool ?? '')
    .slice(0, TOOL_UNITS_MAX)
    .replace(/[^a-z0-9_-]+/g, '_');
  return name === '' ? 'tool' : name;
}

/** Returns the label that a trusted label becomes when its trust has ended: `untrusted.contacts`. */
export function endTrust(label: Label, ended: readonly Label[]): Label {
  if (!isCoveredBy(ended, label)) return label;
  return covers(TRUSTED, label) ? `${UNTRUSTED}${label.slice(TRUSTED.length)}` : UNTRUSTED;
}

/** Adds labels to a list that has each label once. A label's first entry counts. */
export function addLabels(list: SeenLabel[], added: readonly SeenLabel[]): void {
  for (const each of added) if (!list.some(({ label }) => label === each.label)) list.push(each);
}

/** Returns the argument labels for an event: `recipient:untrusted.mail:evt_1`. The names come from a contract. */
export function listArgumentLabels(labels: Readonly<Record<string, readonly SeenLabel[]>>): string[] {
  return Object.entries(labels).flatMap(([name, seen]) =>
    seen.map(({ label, event_id }) => [name, label, ...(event_id === null ? [] : [event_id])].join(':')),
  );
}

/** Returns the untrusted labels that a contract gives, which are the session's taint tags too. */
export function listUntrustedLabels(contract: ToolContract): readonly Label[] {
  return listGivenLabels(contract).filter(isUntrusted);
}

/** Returns the labels that a contract gives to fields that no third party can write. */
export function listTrustedLabels(contract: ToolContract): readonly Label[] {
  return listGivenLabels(contract).filter((label) => covers(TRUSTED, label));
}

/** Returns the labels that a contract gives to results. */
export function listGivenLabels({ emits }: ToolContract): readonly Label[] {
  return [emits.origin ?? UNKNOWN, ...Object.values(emits.labels ?? {})];
}
