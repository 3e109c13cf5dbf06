import { isProseFile } from './written-marker.ts';

/** An operation of a patch on a file, in the format of `apply_patch` or `diff`. */
export interface PatchOperation {
  readonly path: string;
  readonly kind: 'delete' | 'write';
}

const OPERATIONS_MAX = 2000;
const OPERATION =
  /^(?:\*\*\* (?:(Delete)|Add|Update) File:|\*\*\* Move to:)[ \t]+([^\t\r\n]{1,1024})|^--- ([^\t\r\n]{1,1024})[^\n]{0,100}\r?\n\+\+\+ ([^\t\r\n]{1,1024})/gm;

/** Returns whether a text is a patch, whose lines are content of files and no commands. */
export function isPatch(text: string): boolean {
  return /^\s{0,20}(?:\*\*\* Begin Patch|diff --git |--- [^\n]{1,1024}\n\+\+\+ )/.test(text);
}

/** Returns the lines that a patch adds to files other than prose; other text becomes blanks. */
export function blankUnaddedLines(text: string): string {
  let isProse = false;
  return text.replace(/[^\n]+/g, (line) => {
    const named = FILE_LINE.exec(line);
    if (named !== null) isProse = isProseFile(named[1]!.trim());
    return named === null && line.startsWith('+') && !isProse ? ` ${line.slice(1)}` : ' '.repeat(line.length);
  });
}

const FILE_LINE = /^(?:\*\*\* (?:Add|Update|Delete) File:|\*\*\* Move to:|\+\+\+ )([^\t\r\n]{1,1024})/;

/** Returns what a patch does with each file, without the files that it only reads. */
export function listPatchOperations(text: string): readonly PatchOperation[] {
  const found: PatchOperation[] = [];
  for (const [, deletes, named, before, after] of text.matchAll(OPERATION)) {
    const isDeletion = deletes !== undefined || after?.trim() === '/dev/null';
    const written = named ?? (isDeletion ? before! : after!);
    const path = written.trim();
    found.push({
      path: named === undefined ? path.replace(/^[ab]\//, '') : path,
      kind: isDeletion ? 'delete' : 'write',
    });
    if (found.length >= OPERATIONS_MAX) break;
  }
  return found;
}
