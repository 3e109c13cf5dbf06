import { hashText } from '../../platform/hash-text.ts';
import type { SettingsFormat } from '../record/settings.ts';
import { openDraft } from './edit/draft.ts';
import { applyEdits, type TextEdit } from './edit/edit.ts';
import type { SettingsPart } from './parts.ts';
import { SettingsFailure, stripByteOrderMark } from './settings-document.ts';

/** The data that undoes a change byte for byte. It holds no other content of the file. */
export interface UndoReceipt {
  /** True if setup created the file. */
  readonly created: boolean;
  /** Folders that setup created for it, the outermost first. */
  readonly folders: readonly string[];
  /** The SHA-256 of the text that setup wrote, in hex. */
  readonly after_sha256: string;
  /** Edits that restore the previous text, to be applied in order. */
  readonly undo: readonly (readonly TextEdit[])[];
}

/** The new text of a file; `null` for no file. */
export interface PlannedText {
  readonly after: string | null;
  readonly undo: readonly (readonly TextEdit[])[];
  readonly created: boolean;
}

/**
 * Plans the text of a settings file with the parts installed. A text that already has them is returned unchanged.
 * @throws SettingsFailure if the text cannot be parsed, or not be changed without a loss
 */
export function planInstall(
  before: string | null,
  format: SettingsFormat,
  parts: readonly SettingsPart[],
  receipt: UndoReceipt | null,
): PlannedText {
  const draft = openDraft(before ?? '', format);
  const opening = draft.undo();
  for (const { install } of parts) install(draft);
  const after = draft.text();
  if (draft.undo() === opening && before !== null) return { after: before, undo: [], created: false };
  const isKnown = before !== null && receipt?.after_sha256 === hashText(before);
  return {
    after,
    undo: [...draft.undo(), ...(isKnown ? receipt.undo : [])],
    created: before === null || (receipt?.created ?? false),
  };
}

/**
 * Plans the text of a settings file without the parts: byte for byte as it was if nothing else has changed the file
 * since setup did; otherwise with the entries of this program removed.
 * @throws SettingsFailure if the text cannot be parsed, or not be changed without a loss
 */
export function planUninstall(
  before: string | null,
  format: SettingsFormat,
  parts: readonly SettingsPart[],
  receipt: UndoReceipt | null,
): string | null {
  if (before === null) return null;
  const isKnown = receipt?.after_sha256 === hashText(before);
  if (isKnown && receipt.created) return null;
  const text = isKnown ? applyUndo(before, receipt.undo) : before;
  if (format !== 'toml' && stripByteOrderMark(text).trim() === '') return text;
  const draft = openDraft(text, format);
  for (const { uninstall } of parts) uninstall(draft);
  return receipt?.created && isBare(draft.document()) ? null : draft.text();
}

function applyUndo(text: string, undo: readonly (readonly TextEdit[])[]): string {
  const bare = stripByteOrderMark(text);
  return text.slice(0, text.length - bare.length) + undo.reduce(applyEdits, bare);
}

/** Returns whether nothing is left except the `version` that some agents require. */
function isBare(document: unknown): boolean {
  return (
    typeof document === 'object' &&
    document !== null &&
    Object.keys(document).every((key) => key === 'version')
  );
}

/** Decodes UTF-8. @throws SettingsFailure if the bytes are not valid */
export function decodeSettings(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SettingsFailure('is not UTF-8');
  }
}
