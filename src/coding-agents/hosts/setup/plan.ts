import { createHash } from 'node:crypto';
import { SettingsFailure, withoutMark } from '../document.ts';
import type { SettingsFormat } from '../host.ts';
import { openDraft } from './edit/draft.ts';
import { applied, type Edit } from './edit/edit.ts';
import type { Part } from './parts.ts';

/** What is kept of a change, so that it can be undone byte for byte: none of what else is in the file. */
export interface Receipt {
  /** Whether there was no file before. */
  readonly created: boolean;
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[];
  /** Of the text as it was left. */
  readonly after_sha256: string;
  /** Changes that lead back, one after the other. */
  readonly undo: readonly (readonly Edit[])[];
}

/** What becomes of a text; `null` for no file. */
export interface Planned {
  readonly after: string | null;
  readonly undo: readonly (readonly Edit[])[];
  readonly created: boolean;
}

/**
 * The text of a settings file with what is wanted in it. A text that holds it already comes back as it is.
 * @throws SettingsFailure where it cannot be read, or not changed without a loss
 */
export function planned(
  before: string | null,
  format: SettingsFormat,
  parts: readonly Part[],
  receipt: Receipt | null,
): Planned {
  const draft = openDraft(before ?? '', format);
  const opening = draft.undo();
  for (const { enter } of parts) enter(draft);
  const after = draft.text();
  if (draft.undo() === opening && before !== null) return { after: before, undo: [], created: false };
  const is_known = before !== null && receipt?.after_sha256 === sha256Of(before);
  return {
    after,
    undo: [...draft.undo(), ...(is_known ? receipt.undo : [])],
    created: before === null || (receipt?.created ?? false),
  };
}

/**
 * The text of a settings file as it was before, where nobody has changed it since; else without anything of this program's.
 * @throws SettingsFailure
 */
export function plannedAway(
  before: string | null,
  format: SettingsFormat,
  parts: readonly Part[],
  receipt: Receipt | null,
): string | null {
  if (before === null) return null;
  const is_known = receipt?.after_sha256 === sha256Of(before);
  if (is_known && receipt.created) return null;
  const text = is_known ? undone(before, receipt.undo) : before;
  if (format !== 'toml' && withoutMark(text).trim() === '') return text;
  const draft = openDraft(text, format);
  for (const { leave } of parts) leave(draft);
  return receipt?.created && isBare(draft.document()) ? null : draft.text();
}

function undone(text: string, undo: readonly (readonly Edit[])[]): string {
  const bare = withoutMark(text);
  return text.slice(0, text.length - bare.length) + undo.reduce(applied, bare);
}

/** Whether nothing is left but the version that hosts ask for. */
function isBare(document: unknown): boolean {
  return (
    typeof document === 'object' &&
    document !== null &&
    Object.keys(document).every((key) => key === 'version')
  );
}

/** The SHA-256 of a text, in hexadecimal. */
export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The text of bytes. @throws SettingsFailure where they are no UTF-8 */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SettingsFailure('is not UTF-8');
  }
}
