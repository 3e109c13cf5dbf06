import type { Json } from '../../../core/types/index.ts';
import type { SettingsFormat } from '../../record/settings.ts';
import {
  readDocument,
  refuseDeepNesting,
  SettingsFailure,
  stripByteOrderMark,
} from '../settings-document.ts';
import { applyEdits, type DocumentPath, invertEdits, type TextEdit } from './edit.ts';
import { insertInJson, removeFromJson, replaceInJson } from './json.ts';
import { insertInToml, removeFromToml } from './toml.ts';

/** A settings file that is being changed. Every byte outside of the changed values stays as it was. */
export interface Draft {
  readonly text: () => string;
  readonly document: () => unknown;
  /** Adds a member, or appends an element if the path ends with `-`. Missing containers are created. */
  readonly insert: (path: DocumentPath, value: Json) => void;
  readonly replace: (path: DocumentPath, value: Json) => void;
  readonly remove: (path: DocumentPath) => void;
  /** Returns the edits that undo all changes so far, to be applied in order. */
  readonly undo: () => readonly (readonly TextEdit[])[];
}

/**
 * Opens a text for changes. After each change the text is parsed again and compared with the intended document.
 * @throws SettingsFailure here and from every change, if the text cannot be parsed or not be changed without a loss
 */
export function openDraft(whole: string, format: SettingsFormat): Draft {
  const mark = whole.slice(0, whole.length - stripByteOrderMark(whole).length);
  let text = stripByteOrderMark(whole);
  let undo: readonly (readonly TextEdit[])[] = [];
  let document = readDocument(text, format);

  function put(edits: readonly TextEdit[]): void {
    undo = [invertEdits(text, edits), ...undo];
    text = applyEdits(text, edits);
  }
  /** `applyTo` makes the same change to a parsed document. */
  function change(
    buildEdits: (text: string) => readonly TextEdit[],
    applyTo: (document: unknown) => void,
  ): void {
    const edits = buildEdits(text);
    const expected = readDocument(text, format);
    applyTo(expected);
    put(edits);
    document = parseResult(text, format);
    const isSame = refuseDeepNesting(() => JSON.stringify(document) === JSON.stringify(expected));
    if (!isSame) throw buildLossyChangeFailure();
  }
  if (format !== 'toml' && document === null) {
    put([{ offset: 0, length: text.length, content: '{}\n' }]);
    document = readDocument(text, format);
  }
  return {
    text: () => `${mark}${text}`,
    document: () => document,
    insert: (path, value) =>
      change(
        (now) =>
          format === 'toml' ? insertInToml(now, path, value) : insertInJson(now, format, path, value),
        (document) => insertInValue(document, path, value),
      ),
    replace: (path, value) =>
      change(
        (now) =>
          format === 'toml'
            ? [...removeFromToml(now, path), ...insertInToml(now, path, value)]
            : replaceInJson(now, format, path, value),
        (document) => {
          const { container, key } = findContainer(document, path);
          container[key] = value;
        },
      ),
    remove: (path) =>
      change(
        (now) => (format === 'toml' ? removeFromToml(now, path) : removeFromJson(now, format, path)),
        (document) => {
          const { container, key } = findContainer(document, path);
          if (Array.isArray(container)) container.splice(Number(key), 1);
          else delete container[key];
        },
      ),
    undo: () => undo,
  };
}

function parseResult(text: string, format: SettingsFormat): unknown {
  try {
    return readDocument(text, format);
  } catch {
    throw buildLossyChangeFailure();
  }
}

function buildLossyChangeFailure(): SettingsFailure {
  return new SettingsFailure('is written in a way that cannot be changed without losing something');
}

type Container = Record<string | number, unknown>;

function findContainer(
  document: unknown,
  path: DocumentPath,
): { container: Container; key: string | number } {
  let container = document as Container;
  for (const key of path.slice(0, -1)) container = container[key] as Container;
  return { container, key: path.at(-1)! };
}

function insertInValue(document: unknown, path: DocumentPath, value: Json): void {
  let container = document as Container;
  for (const [at, key] of path.slice(0, -1).entries()) {
    container[key] ??= path[at + 1] === '-' ? [] : Object.create(null);
    container = container[key] as Container;
  }
  const key = path.at(-1)!;
  if (Array.isArray(container)) container.push(value);
  else container[key] = value;
}
