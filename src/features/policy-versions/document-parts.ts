import { hashSha256 } from '../../runtime/packages/package.ts';

/** A template or skill that was installed into the policy document. */
export interface InstalledPart {
  readonly kind: 'Template' | 'Skill';
  readonly name: string;
  /** `null` for a template, which has none. */
  readonly version: string | null;
  /** True if its text is not the one that was installed. */
  readonly is_edited: boolean;
}

/** Comment lines mark the beginning and the end of a part; the digest shows if its text was edited. */
const BEGIN =
  /^# (Template|Skill) ([a-z0-9][a-z0-9._-]{0,127})(?: (\d[\w.+-]{0,63}))? begins, sha256 ([0-9a-f]{64})$/;
const END = /^# (Template|Skill) ([a-z0-9][a-z0-9._-]{0,127}) ends$/;

/** A part with its place: the offsets of its first and last line in the document. */
interface PlacedPart extends InstalledPart {
  readonly start: number;
  readonly end: number;
}

/** Lists the installed parts of a policy document, in its order. */
export function listParts(text: string): readonly InstalledPart[] {
  return findParts(text).map(({ start: _start, end: _end, ...part }) => part);
}

/** Reads the document line by line. A beginning without an end before the next beginning is no part. */
function findParts(text: string): readonly PlacedPart[] {
  const parts: PlacedPart[] = [];
  let open: { readonly found: RegExpExecArray; readonly start: number; readonly own: number } | null = null;
  let at = 0;
  for (const line of text.split('\n')) {
    const begin = BEGIN.exec(line);
    if (begin !== null) open = { found: begin, start: at, own: at + line.length + 1 };
    const end = END.exec(line);
    if (end !== null && open !== null && end[1] === open.found[1] && end[2] === open.found[2]) {
      const [, kind, name, version, sha256] = open.found;
      parts.push({
        kind: kind as InstalledPart['kind'],
        name: name!,
        version: version ?? null,
        is_edited: hashSha256(text.slice(open.own, Math.max(open.own, at - 1))) !== sha256,
        start: open.start,
        end: at + line.length,
      });
      open = null;
    }
    at += line.length + 1;
  }
  return parts;
}

/** Adds a part to the end of a policy document. Its own comments cannot mark another part. */
export function appendPart(
  text: string,
  { kind, name, version }: Omit<InstalledPart, 'is_edited'>,
  own: string,
): string {
  const before = text.trim() === '' ? '' : `${text.trimEnd()}\n---\n`;
  const lines = own
    .trimEnd()
    .split('\n')
    .map((line) => (BEGIN.test(line) || END.test(line) ? `#${line}` : line))
    .join('\n');
  const title = version === null ? `${kind} ${name}` : `${kind} ${name} ${version}`;
  return `${before}# ${title} begins, sha256 ${hashSha256(lines)}\n${lines}\n# ${kind} ${name} ends\n`;
}

/** Removes a part, and the separator before it, from a policy document. */
export function removePart(text: string, kind: InstalledPart['kind'], name: string): string {
  const part = findParts(text).find((each) => each.kind === kind && each.name === name);
  if (part === undefined) return text;
  const before = text.slice(0, part.start).replace(/(?:^|\n)---\n$/, '\n');
  const after = text.slice(part.end).replace(/^\n/, '');
  return before.trim() === '' ? after.replace(/^---\n/, '') : `${before}${after}`;
}
