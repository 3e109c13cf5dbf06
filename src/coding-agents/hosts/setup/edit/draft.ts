import type { Json } from '../../../../core/types/index.ts';
import { readDocument, SettingsFailure, withinStack, withoutMark } from '../../document.ts';
import type { SettingsFormat } from '../../host.ts';
import { applied, type Edit, inverse, type Path } from './edit.ts';
import { insertInJson, removeFromJson, replaceInJson } from './json.ts';
import { insertInToml, removeFromToml } from './toml.ts';

/** A settings file that is being changed: only the places that change are written, all else is kept byte for byte. */
export interface Draft {
  readonly text: () => string;
  readonly document: () => unknown;
  /** Adds a member, or an element at the end where the path ends with `-`; containers on the way are made. */
  readonly insert: (path: Path, value: Json) => void;
  readonly replace: (path: Path, value: Json) => void;
  readonly remove: (path: Path) => void;
  /** What undoes all changes so far, one after the other. */
  readonly undo: () => readonly (readonly Edit[])[];
}

/**
 * Begins to change a text. Each change is read again, and refused where it came to anything else than what was meant.
 * @throws SettingsFailure here and from every change
 */
export function openDraft(whole: string, format: SettingsFormat): Draft {
  const mark = whole.slice(0, whole.length - withoutMark(whole).length);
  let text = withoutMark(whole);
  let undo: readonly (readonly Edit[])[] = [];
  let document = readDocument(text, format);

  function put(edits: readonly Edit[]): void {
    undo = [inverse(text, edits), ...undo];
    text = applied(text, edits);
  }
  /** `meant` changes a document as the edits are to change the text. */
  function change(editsOf: (text: string) => readonly Edit[], meant: (document: unknown) => void): void {
    const edits = editsOf(text);
    const expected = readDocument(text, format);
    meant(expected);
    put(edits);
    document = readAgain(text, format);
    const [is, was_meant] = withinStack(() => [document, expected].map((each) => JSON.stringify(each)));
    if (is !== was_meant) throw unlike();
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
        (meant) => insertInValue(meant, path, value),
      ),
    replace: (path, value) =>
      change(
        (now) =>
          format === 'toml'
            ? [...removeFromToml(now, path), ...insertInToml(now, path, value)]
            : replaceInJson(now, format, path, value),
        (meant) => {
          const { container, key } = placeOf(meant, path);
          container[key] = value;
        },
      ),
    remove: (path) =>
      change(
        (now) => (format === 'toml' ? removeFromToml(now, path) : removeFromJson(now, format, path)),
        (meant) => {
          const { container, key } = placeOf(meant, path);
          if (Array.isArray(container)) container.splice(Number(key), 1);
          else delete container[key];
        },
      ),
    undo: () => undo,
  };
}

function readAgain(text: string, format: SettingsFormat): unknown {
  try {
    return readDocument(text, format);
  } catch {
    throw unlike();
  }
}

function unlike(): SettingsFailure {
  return new SettingsFailure('is written in a way that cannot be changed without losing something');
}

type Container = Record<string | number, unknown>;

function placeOf(document: unknown, path: Path): { container: Container; key: string | number } {
  let container = document as Container;
  for (const key of path.slice(0, -1)) container = container[key] as Container;
  return { container, key: path.at(-1)! };
}

function insertInValue(document: unknown, path: Path, value: Json): void {
  let container = document as Container;
  for (const [at, key] of path.slice(0, -1).entries()) {
    container[key] ??= path[at + 1] === '-' ? [] : Object.create(null);
    container = container[key] as Container;
  }
  const key = path.at(-1)!;
  if (Array.isArray(container)) container.push(value);
  else container[key] = value;
}
