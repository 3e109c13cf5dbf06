import { scanJson } from '../json/scan-json.ts';
import { buildLeafSplices, getContentSource, spliceSource } from '../json/source.ts';
import { collectLeafTexts, UNLIMITED_WALK } from '../json/walk.ts';
import { type Content, type Finding, SEVERITIES } from '../types/index.ts';
import type { Splice } from '../types/json.ts';

/**
 * Returns the content with exactly the given findings masked by `[REDACTED]`, or by `[REDACTED:ssn]` if `typed`.
 * Findings that overlap or touch become one mask, named after the most severe. In JSON a masked number becomes a
 * string and a masked key is renamed; the other bytes stay the same. A finding about the whole content masks nothing.
 *
 * @param removed - additional splices of the content's source, which must not overlap the findings
 */
export function redact(
  content: Content,
  findings: readonly Finding[],
  typed: boolean,
  removed: readonly Splice[] = [],
): Content {
  return replaceFindings(content, findings, selectMarker(typed), removed);
}

/** Returns the replacement of a match. `text` is the whole masked text if findings were merged. */
export type RedactionMarker = (worst: Finding, text: string) => string;

function selectMarker(typed: boolean): RedactionMarker {
  return typed ? ({ detector }) => `[REDACTED:${detector}]` : () => '[REDACTED]';
}

/** Works like `redact` with the caller's own markers. */
export function replaceFindings(
  content: Content,
  findings: readonly Finding[],
  marker: RedactionMarker,
  removed: readonly Splice[] = [],
): Content {
  const placed = findings.filter(({ is_whole }) => is_whole !== true);
  if (placed.length === 0 && removed.length === 0) return content;
  const byLeaf = groupByLeaf(placed);
  const masked = new Map<number, string>();
  for (const [leaf, text] of collectLeafTexts(content, placed))
    masked.set(leaf, replaceSpans(text, byLeaf.get(leaf)!, marker, findNumbers(text)));
  if (content.kind === 'text') return { kind: 'text', text: masked.get(0) ?? content.text };
  const source = getContentSource(content);
  return spliceSource(source, [...buildLeafSplices(source.root, masked), ...removed]);
}

function groupByLeaf(findings: readonly Finding[]): ReadonlyMap<number, readonly Finding[]> {
  const groups = new Map<number, Finding[]>();
  for (const finding of findings) {
    const group = groups.get(finding.leaf);
    if (group === undefined) groups.set(finding.leaf, [finding]);
    else group.push(finding);
  }
  return groups;
}

interface Span {
  readonly start: number;
  end: number;
  worst: Finding;
}

/** Masks the findings in a text that is not a JSON document. Offsets count from the start of the text. */
export function redactPart(text: string, findings: readonly Finding[], typed: boolean): string {
  return replaceSpans(text, findings, selectMarker(typed), NO_NUMBERS);
}

const NO_NUMBERS: ReadonlyMap<number, number> = new Map();

function replaceSpans(
  text: string,
  findings: readonly Finding[],
  marker: RedactionMarker,
  numbers: ReadonlyMap<number, number>,
): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, worst } of mergeSpans(findings)) {
    const mark = marker(worst, text.slice(start, end));
    const isNumber = numbers.get(start) === end;
    parts.push(text.slice(from, start), isNumber ? `"${mark}"` : mark);
    from = end;
  }
  parts.push(text.slice(from));
  return parts.join('');
}

function mergeSpans(findings: readonly Finding[]): readonly Span[] {
  const spans: Span[] = [];
  for (const finding of [...findings].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = spans.at(-1);
    if (last === undefined || finding.start > last.end) {
      spans.push({ start: finding.start, end: finding.end, worst: finding });
      continue;
    }
    last.end = Math.max(last.end, finding.end);
    if (rankSeverity(finding) > rankSeverity(last.worst)) last.worst = finding;
  }
  return spans;
}

function rankSeverity({ severity }: Finding): number {
  return SEVERITIES.indexOf(severity);
}

/**
 * Returns the positions of the numbers in a JSON document, because the mask of a number needs quotes. Empty for other
 * text.
 */
function findNumbers(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return ends;
  const reading = scanJson(text, UNLIMITED_WALK, ({ kind, start, end }) => {
    if (kind === 'number') ends.set(start, end);
  });
  if (reading !== 'read') ends.clear();
  return ends;
}
