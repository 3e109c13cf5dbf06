import { getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';
import { parse as parseToml, TomlError } from 'smol-toml';
import type { Host, InstalledHook, SettingsFormat } from './host.ts';

/** A settings file that cannot be read or changed: a sentence that says what to do. */
export class SettingsFailure extends Error {
  readonly code = 'settings_unusable';

  constructor(message: string) {
    super(message);
    this.name = 'SettingsFailure';
  }
}

/**
 * The hooks that stand in the text of a settings file.
 * @throws SettingsFailure where it cannot be read
 */
export function installed(host: Host, text: string, format: SettingsFormat): readonly InstalledHook[] {
  return host.shape.list(readDocument(text, format));
}

/**
 * The value of a settings file; an empty one has none, `null`.
 * @throws SettingsFailure with the line at which it cannot be read
 */
export function readDocument(text: string, format: SettingsFormat): unknown {
  const bare = withoutMark(text);
  if (format === 'toml') return readToml(bare);
  if (bare.trim() === '') return null;
  const tree = jsonTree(bare, format);
  return withinStack(() => getNodeValue(tree));
}

/**
 * The tree of a JSON text, with the place of every value.
 * @throws SettingsFailure
 */
export function jsonTree(text: string, format: 'json' | 'jsonc'): Node {
  const errors: ParseError[] = [];
  const lax = format === 'jsonc';
  const options = { disallowComments: !lax, allowTrailingComma: lax };
  const tree = withinStack(() => parseTree(text, errors, options));
  if (tree !== undefined && errors.length === 0) return tree;
  const line = text.slice(0, errors[0]?.offset ?? 0).split('\n').length;
  throw new SettingsFailure(`is not ${lax ? 'JSON with comments' : 'JSON'} at line ${line}`);
}

/** What is done with a document level by level. @throws SettingsFailure where it has more of them than can be followed */
export function withinStack<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (error instanceof RangeError) throw new SettingsFailure('is nested too deeply to be read');
    throw error;
  }
}

function readToml(text: string): unknown {
  try {
    return withinStack(() => parseToml(text));
  } catch (error) {
    if (error instanceof TomlError) throw new SettingsFailure(`is not TOML at line ${error.line}`);
    throw error;
  }
}

/** Without the byte order mark that some editors of Windows put first. */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
