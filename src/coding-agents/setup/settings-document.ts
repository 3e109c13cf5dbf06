import { getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';
import { parse as parseToml, TomlError } from 'smol-toml';
import type { SettingsFormat } from '../record/settings.ts';

/**
 * A settings file that cannot be read or changed. The message is a predicate: a caller puts the file's path in front.
 */
export class SettingsFailure extends Error {
  readonly code = 'settings_unusable';

  constructor(message: string) {
    super(message);
    this.name = 'SettingsFailure';
  }
}

/**
 * Parses the text of a settings file; `null` if it is empty.
 * @throws SettingsFailure with the line of the first mistake
 */
export function readDocument(text: string, format: SettingsFormat): unknown {
  const bare = stripByteOrderMark(text);
  if (format === 'toml') return readToml(bare);
  if (bare.trim() === '') return null;
  const tree = parseSettingsTree(bare, format);
  return refuseDeepNesting(() => getNodeValue(tree));
}

/**
 * Parses a JSON text into a tree that has the offset of every value.
 * @throws SettingsFailure with the line of the first mistake
 */
export function parseSettingsTree(text: string, format: 'json' | 'jsonc'): Node {
  const errors: ParseError[] = [];
  const lax = format === 'jsonc';
  const options = { disallowComments: !lax, allowTrailingComma: lax };
  const tree = refuseDeepNesting(() => parseTree(text, errors, options));
  if (tree !== undefined && errors.length === 0) return tree;
  const line = text.slice(0, errors[0]?.offset ?? 0).split('\n').length;
  throw new SettingsFailure(`is not ${lax ? 'JSON with comments' : 'JSON'} at line ${line}`);
}

/** Runs a recursive function on a document. @throws SettingsFailure if the nesting exhausts the stack */
export function refuseDeepNesting<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (error instanceof RangeError) throw new SettingsFailure('is nested too deeply to be read');
    throw error;
  }
}

function readToml(text: string): unknown {
  try {
    return refuseDeepNesting(() => parseToml(text));
  } catch (error) {
    if (error instanceof TomlError) throw new SettingsFailure(`is not TOML at line ${error.line}`);
    throw error;
  }
}

/** Removes the byte order mark that some Windows editors write. */
export function stripByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
