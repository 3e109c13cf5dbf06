import { covers, foldCase, isCoveredBy } from '../tags.ts';
import type { Label, SeenLabel, ToolContract } from '../types/index.ts';

/** Labels that permit a value, each with its descendants. */
export const PERMITTING_LABELS: readonly Label[] = ['user', 'user_source', 'operator', 'own', 'trusted'];

/** All families of labels that a document may name. */
export const LABEL_FAMILIES: readonly Label[] = [...PERMITTING_LABELS, 'untrusted'];

/** The label of a value in a result that a person asked for by the exact name of its source. */
export const USER_SOURCE: Label = 'user_source';

/** The label of a value that no content of the session had. */
export const UNKNOWN: Label = 'unknown';

/** The label of an argument that a call leaves out. */
export const ABSENT: Label = 'absent';

const UNTRUSTED = 'untrusted';
const TRUSTED = 'trusted';

/** Returns whether a label can permit a value. */
export function isPermitting(label: Label): boolean {
  return isCoveredBy(PERMITTING_LABELS, label);
}

/** Returns whether a label is that of content which strangers can write. */
export function isUntrusted(label: Label): boolean {
  return covers(UNTRUSTED, label);
}

/** Returns whether a label says that no content of the session had a value, but perhaps an argument. */
export function isUnknown(label: Label): boolean {
  return covers(UNKNOWN, label);
}

const TOOL_UNITS_MAX = 100;

/** Returns the label of a result whose contract states none: `untrusted.read_inbox`. */
export function buildToolLabel(tool: string | null): Label {
  return `${UNTRUSTED}.${formatTool(tool)}`;
}

/** Returns the label of an argument value that has no other: `unknown.get_contacts`. */
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

/** Adds labels to a list that has each label once. The first entry of a label counts. */
export function addLabels(list: SeenLabel[], added: readonly SeenLabel[]): void {
  for (const each of added) if (!list.some(({ label }) => label === each.label)) list.push(each);
}

/** Returns the labels of arguments for an event: `recipient:untrusted.mail:evt_1`. The names are those of a contract. */
export function listArgumentLabels(labels: Readonly<Record<string, readonly SeenLabel[]>>): string[] {
  return Object.entries(labels).flatMap(([name, seen]) =>
    seen.map(({ label, event_id }) => [name, label, ...(event_id === null ? [] : [event_id])].join(':')),
  );
}

/** Returns the untrusted labels that a contract gives, which are taint tags of the session too. */
export function listUntrustedLabels({ emits }: ToolContract): readonly Label[] {
  const labels = [emits.origin ?? UNKNOWN, ...Object.values(emits.labels ?? {})];
  return labels.filter((label) => covers(UNTRUSTED, label));
}
