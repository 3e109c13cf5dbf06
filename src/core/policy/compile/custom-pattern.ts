import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { Match } from '../../detect/matching/compiled-detector.ts';
import { buildCustomDetector } from '../../detect/matching/custom/custom-detector.ts';
import { parsePatternTree } from '../../detect/matching/custom/pattern-tree.ts';
import {
  buildLiteralAnchor,
  DISTINCT_UNITS_MIN,
  findRequiredAnchor,
  measureUnits,
} from '../../detect/matching/custom/required-anchor.ts';
import type { Detector } from '../../detect/matching/detector.ts';
import { compileScanner, type Scanner, scanText } from '../../detect/matching/scanner.ts';
import { isTag } from '../../tags.ts';
import type { CheckName, CustomPattern, DocumentProblem, Severity, Tag } from '../../types/index.ts';
import { buildChildLocation, buildDocumentProblem, type DocumentLocation } from './problems.ts';

/** A pattern as the configuration or a plug-in defines it. Its shape was validated before. */
export interface PatternSettings {
  readonly id: string;
  readonly pattern: string;
  readonly anchor?: string;
  readonly detector?: string;
  readonly tags: readonly string[];
  readonly severity: Severity;
  readonly description: string;
  readonly checks?: readonly CheckName[];
  readonly entropy_min?: number;
  readonly examples: { readonly hits: readonly string[]; readonly misses: readonly string[] };
}

/** The maximum length of a match, and of the part of it that precedes the anchor, in UTF-16 units. */
const UNITS_MAX = 1_024;
const BEFORE_UNITS_MAX = 256;
/** The maximum number of instructions in the compiled program, with repeats expanded. */
const PROGRAM_MAX = 2_000;

/**
 * Parses one pattern, or adds its problems. Its examples are tried later, together with those of all patterns.
 */
export function parsePattern(
  written: PatternSettings,
  place: DocumentLocation,
  problems: DocumentProblem[],
): CustomPattern | null {
  const stated = [...findTagProblems(written.tags, place)];
  const wrong = findPatternFault(written.pattern);
  if (wrong !== null) stated.push(buildDocumentProblem(buildChildLocation(place, 'pattern'), wrong));
  const read = wrong === null ? buildPattern(written) : null;
  if (wrong === null && read === null)
    stated.push(buildDocumentProblem(buildChildLocation(place, 'pattern'), UNANCHORED));
  problems.push(...stated);
  return stated.length > 0 ? null : read;
}

const UNANCHORED =
  `needs ${DISTINCT_UNITS_MIN} or more fixed characters in a row that every match has, because the search looks for these first. ` +
  'Begin the pattern with them, as in `EMP-[0-9]{6}`, or name them under `anchor`';

function findTagProblems(tags: readonly string[], place: DocumentLocation): DocumentProblem[] {
  return tags.flatMap((tag, at) =>
    isTag(tag)
      ? []
      : buildDocumentProblem(
          buildChildLocation(place, 'tags', at),
          'must be a tag: dotted, lower case, letters first',
        ),
  );
}

/**
 * Returns the reason a pattern cannot be used, as the predicate of a sentence that repeats nothing of the pattern;
 * `null` if it can be used.
 */
function findPatternFault(pattern: string): string | null {
  try {
    const size = RE2JS.compile(pattern).programSize();
    if (size > PROGRAM_MAX)
      return `is too large once its repeats are written out (${size} of at most ${PROGRAM_MAX} instructions)`;
    return measureUnits(parsePatternTree(pattern)).least === 0 ? 'matches the empty text' : null;
  } catch (error) {
    const what = error instanceof RE2JSSyntaxException ? error.error : 'it cannot be read';
    const hint = what.includes('Perl syntax')
      ? '. RE2 has no look-around `(?=` and no back-references `\\1`'
      : '';
    return `is not a valid RE2 pattern (${what})${hint}`;
  }
}

/** Returns the pattern with its anchors; `null` if it has none. */
function buildPattern(written: PatternSettings): CustomPattern | null {
  const { id, pattern, anchor, tags, severity, description, checks = [], entropy_min = 0 } = written;
  const tree = parsePatternTree(pattern);
  const found = anchor === undefined ? findRequiredAnchor(tree) : buildLiteralAnchor(anchor, pattern);
  if (found === null) return null;
  return {
    id,
    detector: written.detector ?? id.slice(id.lastIndexOf('.') + 1),
    tags: tags as readonly [Tag, ...Tag[]],
    severity,
    description,
    pattern,
    anchors: found.anchors,
    before_units_max: Math.min(found.before_units_max, BEFORE_UNITS_MAX),
    units_max: Math.min(measureUnits(tree).most, UNITS_MAX),
    ...(checks.length > 0 && { checks }),
    ...(entropy_min > 0 && { entropy_min }),
  };
}

/** A parsed pattern and the settings that it was parsed from. */
export interface ParsedPattern {
  readonly written: PatternSettings;
  readonly read: CustomPattern;
  readonly place: DocumentLocation;
}

/**
 * Returns the problems with the examples of patterns. One scanner tries all of them, and each pattern sees its own
 * matches only.
 */
export function findExampleProblems(patterns: readonly ParsedPattern[]): DocumentProblem[] {
  if (patterns.length === 0) return [];
  const detectors = patterns.map(({ read }) => buildCustomDetector(read));
  const scanner = compileScanner(detectors);
  return patterns.flatMap(({ written: { examples }, place }, pattern) => {
    const found = (text: string) => formatSpans(scanner, detectors[pattern]!, text);
    const hits = examples.hits.flatMap((marked, at) => {
      const { text, spans } = removeMarks(marked);
      const isFound = found(text) !== '';
      if (isFound && (spans === '' || spans === found(text))) return [];
      const what = isFound ? 'is found at another place than between « and »' : 'is not found';
      return buildDocumentProblem(
        buildChildLocation(place, 'examples', 'hits', at),
        `${what} by the pattern`,
      );
    });
    const misses = examples.misses.flatMap((text, at) =>
      found(text) === ''
        ? []
        : buildDocumentProblem(
            buildChildLocation(place, 'examples', 'misses', at),
            'is found by the pattern',
          ),
    );
    return [...hits, ...misses];
  });
}

/** Returns the spans that a detector matches in a text: `4-14 20-30`. */
function formatSpans(scanner: Scanner, detector: Detector, text: string): string {
  const matches: Match[] = [];
  scanText(scanner, text, matches, Number.POSITIVE_INFINITY);
  const own = matches.filter((match) => match.detector === detector);
  return own.map(({ start, end }) => `${start}-${end}`).join(' ');
}

/** Returns the text without its marks, and the spans between them. */
function removeMarks(marked: string): { text: string; spans: string } {
  const spans: string[] = [];
  let text = '';
  let start = 0;
  for (const part of marked.split(/([«»])/)) {
    if (part === '«') start = text.length;
    else if (part === '»') spans.push(`${start}-${text.length}`);
    else text += part;
  }
  return { text, spans: spans.join(' ') };
}
