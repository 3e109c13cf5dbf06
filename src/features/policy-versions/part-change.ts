import type { Confirmation } from '../../operations/managed-change.ts';
import { type Context, Refusal } from '../../operations/operation.ts';
import { dropBlankName } from '../../operations/subject.ts';
import { saveDocument } from './document-operations.ts';
import { appendPart, type InstalledPart, listParts, removePart } from './document-parts.ts';
import { findPolicyVersion } from './version-store.ts';

type PartName = Omit<InstalledPart, 'is_edited'>;

/** Saves the policy document with a template or skill at its end. @throws Refusal `conflict` if it is installed */
export async function installPart(
  part: PartName,
  own: string,
  { note = null, confirm_weaker }: Confirmation,
  context: Context,
) {
  const { text, version } = await readCurrentDocument(context);
  const noun = part.kind.toLowerCase();
  if (findPart(text, part) !== undefined)
    throw new Refusal(
      'conflict',
      `The ${noun} ${part.name} is installed in the policy document. Remove it first.`,
    );
  const why =
    dropBlankName(note) ??
    `Installed the ${noun} ${part.name}${part.version === null ? '' : ` ${part.version}`}.`;
  const document = { text: appendPart(text, part, own), name: '', note: why, confirm_weaker };
  return saveDocument(document, null, version, context);
}

/**
 * Saves the policy document without a template or skill.
 * @throws Refusal `not_found` if it is not installed, `conflict` if its text was edited
 */
export async function uninstallPart(
  { kind, name }: Pick<PartName, 'kind' | 'name'>,
  { note = null, confirm_weaker }: Confirmation,
  context: Context,
) {
  const { text, version } = await readCurrentDocument(context);
  const part = findPart(text, { kind, name });
  const noun = kind.toLowerCase();
  if (part === undefined) throw new Refusal('not_found', `The policy document has no ${noun} of that name.`);
  if (part.is_edited)
    throw new Refusal(
      'conflict',
      `The ${noun} ${name} was edited in the policy document. Delete its lines in the document instead.`,
    );
  const why = dropBlankName(note) ?? `Removed the ${noun} ${name}.`;
  const document = { text: removePart(text, kind, name), name: '', note: why, confirm_weaker };
  return saveDocument(document, null, version, context);
}

/** Returns the current policy document; an empty text and version 0 if nothing was saved. */
export async function readCurrentDocument(
  context: Context,
): Promise<{ readonly text: string; readonly version: number }> {
  const { db } = await context.runtime.store();
  const current = await findPolicyVersion(db);
  return current === null ? { text: '', version: 0 } : { text: current.text, version: current.version };
}

function findPart(text: string, { kind, name }: Pick<PartName, 'kind' | 'name'>): InstalledPart | undefined {
  return listParts(text).find((part) => part.kind === kind && part.name === name);
}
