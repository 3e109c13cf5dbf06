import type { ArtifactFile } from './types.ts';

/** The longest summary, in UTF-16 units. */
export const SUMMARY_UNITS_MAX = 12_000;
/** The most files of one answer, and the longest one in UTF-16 units. */
const FILES_MAX = 20;
const FILE_UNITS_MAX = 65_536;

/** The parts of an answer: the text for people, and the files. */
export interface AnswerParts {
  readonly prose: string;
  readonly files: readonly ArtifactFile[];
  /** Reasons why the answer cannot be used, as sentences for the model and for people. */
  readonly problems: readonly string[];
}

/** The files that an answer may have. */
export interface ArtifactRules {
  /** Matches the paths that this advisor may propose. */
  readonly path: RegExp;
  /** The allowed paths in words, for the problem. */
  readonly expects: string;
  /** The path of a single code block without a marker; `null` if there must be a marker. */
  readonly unnamed: string | null;
}

const MARKER = /^-{2,4}[ \t]*FILE:(.*)$/i;
const END_MARKER = /^-{2,4}[ \t]*END[^\n]{0,40}$/i;
const FENCE = /^(`{3,}|~{3,})[ \t]*([A-Za-z0-9_+-]{0,20})$/;

/**
 * Splits an answer into text and files. A file begins with a line `--- FILE: <path> ---`; one code fence around its
 * content is removed, and text after that fence belongs to the summary. Linear, because answers have millions of
 * characters and are read where decisions are made.
 */
export function parseAnswer(answer: string, rules: ArtifactRules): AnswerParts {
  const lines = stripReasoning(answer).replace(/\r\n?/g, '\n').split('\n');
  const prose: string[] = [];
  const sections: { readonly path: string; readonly lines: string[] }[] = [];
  let current: string[] = prose;
  for (const line of lines) {
    const trimmed = line.trim();
    const marker = MARKER.exec(trimmed);
    if (marker !== null) {
      current = [];
      sections.push({ path: cleanPath(marker[1] ?? ''), lines: current });
    } else if (END_MARKER.test(trimmed)) current = prose;
    else current.push(line);
  }
  const problems: string[] = [];
  const files = sections.map(({ path, lines }) => {
    const { text, rest, is_open } = unwrapFence(lines);
    prose.push(...rest);
    if (is_open) problems.push(`The code block of the file ${nameFile(path, rules)} is not closed.`);
    return { path, text };
  });
  if (files.length === 0 && rules.unnamed !== null) files.push(...takeSingleBlock(prose, rules.unnamed));
  problems.push(...findFileProblems(files, rules));
  return { prose: prose.join('\n').trim(), files: problems.length > 0 ? [] : files, problems };
}

/** Removes the reasoning that some models write before their answer. Some servers leave out its opening tag. */
export function stripReasoning(answer: string): string {
  const rest = answer
    .split(/<\/(?:think|thinking|reasoning)>/i)
    .at(-1)!
    .trim();
  return /^<(?:think|thinking|reasoning)>/i.test(rest) ? '' : rest;
}

/** Cuts a summary to its limit. */
export function boundSummary(text: string): string {
  return text.length <= SUMMARY_UNITS_MAX ? text : `${text.slice(0, SUMMARY_UNITS_MAX)} …`;
}

/** Removes the end of the marker, and one pair of the marks in which models write names. */
function cleanPath(written: string): string {
  const path = written
    .trim()
    .replace(/-{1,4}$/, '')
    .trim();
  return path
    .replace(/^(?:\*\*|[`'"*])/, '')
    .replace(/(?:\*\*|[`'"*])$/, '')
    .replace(/^\.\//, '');
}

interface FencedBlock {
  readonly text: string;
  readonly rest: readonly string[];
  /** The block has no end. */
  readonly is_open: boolean;
}

function unwrapFence(lines: readonly string[]): FencedBlock {
  const first = lines.findIndex((line) => line.trim() !== '');
  const opening = first < 0 ? null : FENCE.exec(lines[first]!.trim());
  if (opening === null) return { text: endLine(lines.join('\n')), rest: [], is_open: false };
  const end = findFenceEnd(lines, first, opening[1]!);
  if (end < 0) return { text: '', rest: [], is_open: true };
  return {
    text: endLine(lines.slice(first + 1, end).join('\n')),
    rest: lines.slice(end + 1),
    is_open: false,
  };
}

function findFenceEnd(lines: readonly string[], opening: number, fence: string): number {
  return lines.findIndex((line, at) => at > opening && isFence(line) && line.trim().startsWith(fence));
}

function isFence(line: string): boolean {
  return FENCE.test(line.trim());
}

function endLine(text: string): string {
  const trimmed = text.replace(/^\n+/, '').trimEnd();
  return trimmed === '' ? '' : `${trimmed}\n`;
}

/** Takes the only code block out of the text. */
function takeSingleBlock(prose: string[], path: string): readonly ArtifactFile[] {
  const openings = prose.flatMap((line, at) => (isFence(line) ? [at] : []));
  if (openings.length !== 2) return [];
  const [from = 0, to = 0] = openings;
  const text = endLine(prose.slice(from + 1, to).join('\n'));
  prose.splice(from, to - from + 1);
  return text === '' ? [] : [{ path, text }];
}

function findFileProblems(files: readonly ArtifactFile[], rules: ArtifactRules): readonly string[] {
  const problems: string[] = [];
  if (files.length > FILES_MAX) problems.push(`The answer has more than ${FILES_MAX} files.`);
  const seen = new Set<string>();
  for (const { path, text } of files.slice(0, FILES_MAX)) {
    const name = nameFile(path, rules);
    if (!rules.path.test(path))
      problems.push(`A file is not allowed there: the path must be ${rules.expects}.`);
    else if (seen.has(path)) problems.push(`The file ${name} occurs twice.`);
    seen.add(path);
    if (text === '') problems.push(`The file ${name} is empty.`);
    if (text.length > FILE_UNITS_MAX)
      problems.push(`The file ${name} is longer than ${FILE_UNITS_MAX} characters.`);
    if (INVISIBLE.test(text)) problems.push(`The file ${name} has control or invisible characters.`);
  }
  return [...new Set(problems)];
}

/**
 * Characters that a diff does not show, or that reorder its text: the file would not be what a person confirmed. Tabs,
 * line ends, and the selector of emoji are allowed.
 */
const INVISIBLE = /(?![\t\n]|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Names a file in a message. A path that is not allowed is not repeated. */
function nameFile(path: string, { path: allowed }: ArtifactRules): string {
  return allowed.test(path) ? `\`${path}\`` : 'with a path that is not allowed';
}
