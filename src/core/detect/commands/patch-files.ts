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

/** Returns what a patch does with each file, without the files that it only reads. */
export function listPatchOperations(text: string): readonly PatchOperation[] {
  const found: PatchOperation[] = [];
  for (const [, deletes, named, before, after] of text.matchAll(OPERATION)) {
    const is_deletion = deletes !== undefined || after?.trim() === '/dev/null';
    const written = named ?? (is_deletion ? before! : after!);
    const path = written.trim();
    found.push({
      path: named === undefined ? path.replace(/^[ab]\//, '') : path,
      kind: is_deletion ? 'delete' : 'write',
    });
    if (found.length >= OPERATIONS_MAX) break;
  }
  return found;
}
