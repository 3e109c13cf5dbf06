import { countUtf8Bytes, truncateUtf8 } from '../detect/matching/text-size.ts';
import { writeContentJson } from '../json/source.ts';
import { collectLeafTexts } from '../json/walk.ts';
import { isFactTag } from '../tags.ts';
import { isLow } from '../text/offsets.ts';
import { escapeUnprintable } from '../text/unprintable.ts';
import type { Content, Crossing, Finding, Verdict } from '../types/index.ts';
import { redact, redactPart } from './redact.ts';

/** Masking needs these parts from a verdict. */
type FoundParts = Pick<Verdict, 'removed'> & {
  readonly findings: readonly Finding[];
  readonly allowlisted_findings: readonly Finding[];
};

/** The same, with whether the content was scanned whole and judged. */
type JudgedParts = FoundParts & Pick<Verdict, 'coverage' | 'fault'>;

/** A call as people see it: what would run, without secrets, personal data and injections. */
export interface ShownAction {
  /** The tool's name, a space, and the arguments as JSON; controls and invisible characters are escaped. */
  readonly text: string;
  /** The dangerous parts, in UTF-16 units: `[start, end]`, end exclusive. */
  readonly marks: readonly (readonly [start: number, end: number])[];
}

/** A part of a shown call, dangerous or not. */
export interface ActionPart {
  readonly text: string;
  readonly is_dangerous: boolean;
}

/** Splits a shown call at its marks. No part is empty. */
export function splitShownAction({ text, marks }: ShownAction): readonly ActionPart[] {
  let at = 0;
  const parts: ActionPart[] = [];
  for (const [start, end] of marks) {
    parts.push({ text: text.slice(at, start), is_dangerous: false });
    parts.push({ text: text.slice(start, end), is_dangerous: true });
    at = end;
  }
  return [...parts, { text: text.slice(at), is_dangerous: false }].filter((part) => part.text !== '');
}

/** In UTF-8 bytes. */
export const SHOWN_ACTION_BYTES_MAX = 2_048;
/** The most dangerous parts that are marked. */
const MARKS_MAX = 10;
/** The UTF-16 units before the first mark that a shortened text keeps. */
const BEFORE_MARK_UNITS = 240;
const ELLIPSIS = '\u2026';

/**
 * Returns whether people may see what was found: a dangerous command and a fact about paths or hosts are not secret.
 * Everything else is masked, also what a classifier or an operator's pattern found.
 */
function isShown({ type, tags }: Finding): boolean {
  return type === 'dangerous_command' || isFactTag(tags[0]);
}

function listHidden({ findings, allowlisted_findings }: FoundParts): readonly Finding[] {
  // An allowlisted value passes unchanged, but on a screen it is still a secret.
  return [...findings, ...allowlisted_findings].filter((finding) => !isShown(finding));
}

/** Returns a call's arguments with everything masked that people may not see. */
export function maskAction(content: Content, found: FoundParts, typed: boolean): Content {
  return redact(content, listHidden(found), typed, found.removed);
}

/** Returns whether all that was found has a place, and the content can hold nothing else. */
export function isMaskable({ fault, coverage, findings, allowlisted_findings }: JudgedParts): boolean {
  if (fault || coverage.status === 'partial') return false;
  return ![...findings, ...allowlisted_findings].some(({ is_whole }) => is_whole === true);
}

/** Returns the call as people see it, shortened around its first dangerous part; `null` if masks may not hide all. */
export function buildShownAction(
  tool: string,
  content: Content,
  found: JudgedParts,
  typed: boolean,
): ShownAction | null {
  if (!isMaskable(found)) return null;
  const masked = writeContentJson(maskAction(content, found, typed));
  const whole = escapeUnprintable(`${tool} ${masked}`);
  const marks = findMarks(whole, content, found, typed);
  return shorten(whole, marks);
}

/** Returns the members of a record with the call, if it is one that is recorded. */
export function recordShownAction(
  { boundary, phase, tool, content }: Crossing,
  verdict: JudgedParts & Pick<Verdict, 'decision'>,
  wanted: RecordedActions,
  typed: boolean,
): { readonly action_shown?: string; readonly action_marks?: ShownAction['marks'] } {
  const isCall = boundary === 'action' && phase === 'request' && tool !== null;
  const isWanted = wanted === 'all' || (wanted === 'blocked' && verdict.decision === 'block');
  const shown = isCall && isWanted ? buildShownAction(tool, content, verdict, typed) : null;
  return shown === null ? {} : { action_shown: shown.text, action_marks: shown.marks };
}

/** The calls that are recorded: `audit.log_actions`. */
export type RecordedActions = 'blocked' | 'all' | 'none';

/**
 * Finds the dangerous parts by their masked texts, because masks move every offset. A part that the arguments spell with
 * other escapes stays unmarked.
 */
function findMarks(whole: string, content: Content, found: FoundParts, typed: boolean): ShownAction['marks'] {
  const dangerous = found.findings.filter(({ type }) => type === 'dangerous_command').slice(0, MARKS_MAX);
  const texts = collectLeafTexts(content, dangerous);
  const hidden = listHidden(found);
  const places = dangerous.flatMap(({ leaf, start, end }) => {
    const inside = hidden
      .filter((each) => each.leaf === leaf && each.start < end && each.end > start)
      .map((each) => clampFinding(each, start, end));
    const part = redactPart((texts.get(leaf) ?? '').slice(start, end), inside, typed);
    const needle = escapeUnprintable(JSON.stringify(part).slice(1, -1));
    const at = needle === '' ? -1 : whole.indexOf(needle);
    return at < 0 ? [] : [[at, at + needle.length] as const];
  });
  return joinRanges(places);
}

/** Returns a finding with offsets within a part. */
function clampFinding(finding: Finding, start: number, end: number): Finding {
  return {
    ...finding,
    start: Math.max(finding.start, start) - start,
    end: Math.min(finding.end, end) - start,
  };
}

/** Returns ranges in order, each point in one of them. */
function joinRanges(ranges: ShownAction['marks']): ShownAction['marks'] {
  const joined: [number, number][] = [];
  for (const [start, end] of ranges.toSorted(([one], [other]) => one - other)) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

function shorten(whole: string, marks: ShownAction['marks']): ShownAction {
  if (countUtf8Bytes(whole) <= SHOWN_ACTION_BYTES_MAX) return { text: whole, marks };
  const first = marks[0]?.[0] ?? 0;
  const from = first > SHOWN_ACTION_BYTES_MAX / 2 ? alignToCharacter(whole, first - BEFORE_MARK_UNITS) : 0;
  const name = truncateUtf8(whole.slice(0, whole.indexOf(' ') + 1), BEFORE_MARK_UNITS);
  const prefix = from === 0 ? '' : `${name}${ELLIPSIS}`;
  const room = SHOWN_ACTION_BYTES_MAX - countUtf8Bytes(`${prefix}${ELLIPSIS}`);
  const kept = truncateUtf8(whole.slice(from), room);
  const to = from + kept.length;
  const shift = prefix.length - from;
  return {
    text: `${prefix}${kept}${to === whole.length ? '' : ELLIPSIS}`,
    marks: marks
      .filter(([start]) => start >= from && start < to)
      .map(([start, end]) => [start + shift, Math.min(end, to) + shift] as const),
  };
}

function alignToCharacter(text: string, at: number): number {
  return isLow(text.charCodeAt(at)) ? at + 1 : at;
}
