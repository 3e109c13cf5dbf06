import { type CompiledDetector, type Match, tryMatch, type WorkMeter } from './compiled-detector.ts';
import { addDecoded, addPlain, finishView, startView, toSource, type View } from './views/view.ts';

/**
 * Tokens that are written in several parts: over the end of a line, in two members or elements of JSON, in two
 * variables, or with markup between the parts. The parts are joined only where a vendor's prefix begins a token that
 * is too short, so that ordinary text costs nothing.
 */

/** The most parts of a token after the first one, and the most units of all parts. */
const JOINTS_MAX = 4;
const UNITS_MAX = 512;
/** The fewest units of a part. Shorter ones are words and numbers of a list. */
const PART_UNITS_MIN = 5;

/** The beginning of the units between two parts. */
const JOINT_STARTS = ' \t\r\n"\'`<*~\\';
const QUOTE = '\\\\?["\'`]';
const NAME = '[A-Za-z_$][\\w$-]{0,31}';
/** Also as an escape in a string. */
const LINE_BREAK = '(?:\\r?\\n|(?:\\\\{1,3}r)?\\\\{1,3}n)';
const JOINTS: readonly string[] = [
  // The end of a line, with the mark of a quotation, a comment or a difference before the next one.
  `[ \\t]{0,8}${LINE_BREAK}[ \\t]{0,16}(?:[+>|#*-][ \\t]?|//[ \\t]?)?`,
  // Two elements of a list, two members, two variables.
  `${QUOTE}\\s{0,4}[,;]\\s{0,16}(?:${QUOTE}${NAME}${QUOTE}\\s?:\\s?|(?:(?:const|let|var|export)\\s)?${NAME}\\s?=\\s?)?${QUOTE}`,
  // Tags, comments and emphasis.
  '(?:</?[A-Za-z][^<>\\n]{0,80}>|<!--[^<>\\n]{0,80}-->){1,4}',
  '\\*{1,3}|~~',
];
const JOINT_PATTERN = `(?:${JOINTS.join('|')})(?=[A-Za-z0-9])`;
const JOINT = new RegExp(JOINT_PATTERN, 'y');
const IN_RUN = /[A-Za-z0-9][+/]$/;
/** A full line of base64 before a line, as in a certificate: the lines are one text, and none begins a token. */
const IN_BLOCK = new RegExp(`[A-Za-z0-9+/]{48}${LINE_BREAK}[ \\t]{0,8}$`);
const LOOKBEHIND_UNITS = 64;
const PART_UNIT = '[\\w+/=.-]';
const PART_UNITS_MAX = 256;
const PART = new RegExp(`${PART_UNIT}{1,${PART_UNITS_MAX}}`, 'y');
/** Covers the units that `tryJoinedMatch` reads from its offset on, so that a stream waits for them. */
export const JOINED_UNITS: RegExp = new RegExp(
  `${PART_UNIT}{${PART_UNITS_MIN},${PART_UNITS_MAX}}(?:${JOINT_PATTERN}${PART_UNIT}{1,${PART_UNITS_MAX}}){1,${JOINTS_MAX}}`,
);
/** A part of a token has a digit, or letters of both cases in no order that words have. */
const IS_MIXED = /[0-9]|[A-Z]{2}.*[a-z]|[a-z].*[A-Z]{2}/;

/**
 * Tries a detector at an offset where its pattern failed, on the text with its parts joined. Counts the work.
 */
export function tryJoinedMatch(
  compiled: CompiledDetector,
  text: string,
  start: number,
  meter: WorkMeter,
): Match | null {
  const view = joinParts(text, start);
  if (view === null) return null;
  meter.work += view.text.length;
  const match = tryMatch(compiled, view.text, 0, 0, meter);
  return match && { ...match, ...toSource(view, match.start, match.end) };
}

/** Returns the text from an offset with its parts joined; `null` if there is only one. */
function joinParts(text: string, start: number): View | null {
  // After a sign of base64 the prefix is a part of a longer run.
  const before = text.slice(Math.max(0, start - LOOKBEHIND_UNITS), start);
  if (IN_RUN.test(before) || IN_BLOCK.test(before)) return null;
  let end = findPartEnd(text, start);
  if (end - start < PART_UNITS_MIN || !JOINT_STARTS.includes(text[end] ?? 'x')) return null;
  const builder = startView();
  let from = start;
  for (let joints = 0; joints < JOINTS_MAX && end - start < UNITS_MAX; joints++) {
    JOINT.lastIndex = end;
    if (!IS_MIXED.test(text.slice(from, end)) || !JOINT.test(text)) break;
    const next = JOINT.lastIndex;
    const nextEnd = findPartEnd(text, next);
    if (nextEnd - next < PART_UNITS_MIN || !IS_MIXED.test(text.slice(next, nextEnd))) break;
    addPlain(builder, text, from, end);
    addDecoded(builder, '', end, next);
    from = next;
    end = nextEnd;
  }
  if (from === start) return null;
  addPlain(builder, text, from, end);
  // The unit after the last part shows whether the token ends there.
  addPlain(builder, text, end, Math.min(text.length, end + 1));
  return finishView(builder);
}

function findPartEnd(text: string, start: number): number {
  PART.lastIndex = start;
  return PART.test(text) ? PART.lastIndex : start;
}
