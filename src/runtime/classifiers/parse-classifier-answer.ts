import { isUtf8 } from 'node:buffer';
import type { ClassifierFinding } from './types.ts';

/** The longest answer of a classifier, in bytes. */
export const ANSWER_BYTES_MAX = 65_536;
/** The number of findings in one answer. */
const FINDINGS_MAX = 100;
/** The longest label, in UTF-16 units. */
const LABEL_UNITS_MAX = 128;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Parses the body of an answer: `{"findings": [{"label", "score", "start"?, "end"?}]}`. Returns `null` if any part of it
 * is invalid, because the rest of such an answer is not reliable either. Unknown members are ignored.
 *
 * @param pointsCount - the length of the text in Unicode code points
 */
export function parseClassifierAnswer(
  body: Buffer,
  pointsCount: number,
): readonly ClassifierFinding[] | null {
  const answer = parseFields(body);
  const listed = answer?.findings;
  if (!Array.isArray(listed) || listed.length > FINDINGS_MAX) return null;
  const findings: ClassifierFinding[] = [];
  for (const each of listed as readonly unknown[]) {
    const finding = parseFinding(each, pointsCount);
    if (finding === null) return null;
    findings.push(finding);
  }
  return findings;
}

function parseFields(body: Buffer): Fields | null {
  if (!isUtf8(body)) return null;
  try {
    return toFields(JSON.parse(body.toString('utf8')));
  } catch {
    return null;
  }
}

function toFields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

function parseFinding(value: unknown, pointsCount: number): ClassifierFinding | null {
  const fields = toFields(value);
  if (fields === null) return null;
  const { label, score, start = null, end = null } = fields;
  if (typeof label !== 'string' || label === '' || label.length > LABEL_UNITS_MAX) return null;
  if (typeof score !== 'number' || !(score >= 0 && score <= 1)) return null;
  if (start === null && end === null) return { label, score, place: null };
  if (!isOffset(start, pointsCount) || !isOffset(end, pointsCount) || start >= end) return null;
  return { label, score, place: { start, end } };
}

function isOffset(value: unknown, pointsCount: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= pointsCount;
}
