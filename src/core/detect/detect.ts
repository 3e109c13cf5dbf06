import {
  decodeLeaf,
  isEscapedJson,
  type JsonScanResult,
  mapLeafOffsets,
  scanJson,
} from '../json/scan-json.ts';
import { walkContent } from '../json/walk.ts';
import { allowSteps, countSteps, STEP_LIMITS, takeSteps } from '../steps.ts';
import { covers } from '../tags.ts';
import type { ToolCall } from '../types/crossing.ts';
import type { Content, Coverage, Detection, Finding, ScanLimits, ViolationType } from '../types/index.ts';
import { COMMAND_FAMILY, COMMAND_IN_TEXT } from './commands/ids.ts';
import type { FoundCommands, PayloadReader } from './commands/in-payload.ts';
import { createPayloadReaderOnDemand, findSevereRulesOnDemand } from './lazy.ts';
import type { Match, WorkMeter } from './matching/compiled-detector.ts';
import type { Detector } from './matching/detector.ts';
import { isDocumentedExample, isLocalDefault } from './matching/placeholders.ts';
import { resolveOverlaps } from './matching/resolve-overlaps.ts';
import { scanDecoded } from './matching/scan-decoded.ts';
import { findMemberDetectors, type Scanner } from './matching/scanner.ts';
import { countUtf8Bytes, truncateUtf8 } from './matching/text-size.ts';
import { buildRuleIdentity, hasEntropy, resolveDetectorSettings } from './registry/detector-settings.ts';
import { getScanner } from './registry/scanners.ts';

/**
 * Scans a text, or the keys, strings and numbers of a JSON value, with the enabled detectors. JSON inside
 * strings is scanned too. Findings are sorted by leaf and offset. The scan ends at the first limit that is
 * exceeded; the coverage is then `partial`, with a reason that names the limit.
 * `is_full` is true if that limit is the number of findings.
 */
export function detect(
  content: Content,
  detection: Detection,
  limits: ScanLimits,
  call: ToolCall | null = null,
): { findings: Finding[]; coverage: Coverage; is_full: boolean } {
  const search = startSearch(detection, limits, call, {
    work: 0,
    allowed: WORK_FLOOR,
    has_wide_units: false,
  });
  const isRead = takeSteps(0, () => {
    if (content.kind === 'text') searchText(search, content.text);
    else searchPayload(search, content);
  });
  if (!isRead) search.stopped ??= STEPS_EXCEEDED;
  return { findings: search.findings, coverage: getCoverage(search), is_full: search.is_full };
}

/**
 * Scans the leaves of a JSON document in a text, as `detect` does if the document has escapes. Each leaf is scanned
 * alone, with the key before it, so a document can be scanned member by member. The work is added to `meter`.
 */
export function detectDocumentText(
  text: string,
  detection: Detection,
  limits: ScanLimits,
  meter: WorkMeter,
): { findings: Finding[]; coverage: Coverage } {
  const search = startSearch(detection, limits, null, meter);
  const matches: Match[] = [];
  searchDocuments(search, text, matches);
  addFindings(search, text, matches, 0, () => null);
  return { findings: search.findings, coverage: getCoverage(search) };
}

/** Returns whether values of a JSON member can be findings because of this key alone. */
export function hasMemberDetectors(key: string, detection: Detection): boolean {
  const scanner = getScanner(detection);
  const meter: WorkMeter = { work: 0, allowed: WORK_FLOOR };
  const hasAnchors = scanDecoded(scanner, key, [], Number.POSITIVE_INFINITY, meter);
  return hasAnchors && findMemberDetectors(scanner, key).length > 0;
}

function startSearch(
  detection: Detection,
  limits: ScanLimits,
  call: ToolCall | null,
  meter: WorkMeter,
): Search {
  return {
    call,
    detection,
    scanner: getScanner(detection),
    limits,
    findings: [],
    bytes: 0,
    uncounted: [],
    uncounted_bytes_max: 0,
    has_commands: false,
    stopped: null,
    is_full: false,
    meter,
  };
}

/** The reason of coverage that ends because content takes too many steps. */
const STEPS_EXCEEDED = `The content takes more than ${STEP_LIMITS.per_unit} steps for each UTF-16 unit.`;

/** The state of one call of `detect`. */
interface Search {
  readonly call: ToolCall | null;
  readonly detection: Detection;
  readonly scanner: Scanner;
  readonly limits: ScanLimits;
  readonly findings: Finding[];
  /** The UTF-8 bytes scanned so far, without those of `uncounted`. */
  bytes: number;
  /**
   * Texts that are within the limit even if every unit takes the most bytes. They are counted only if the
   * scan is partial, because counting takes a tenth of the time of the scan.
   */
  readonly uncounted: string[];
  /** The most bytes that `uncounted` can have. */
  uncounted_bytes_max: number;
  /**
   * True if commands were found. They are added after the other findings of their leaf, so the findings need
   * a sort.
   */
  has_commands: boolean;
  /** The sentence that names the limit at which the scan ended; `null` if none was exceeded. */
  stopped: string | null;
  /** True if the scan ended because there were too many findings. */
  is_full: boolean;
  readonly meter: WorkMeter;
}

/**
 * The work allowed per unit of text; clean text takes one to two per unit. `WORK_FLOOR` is added once per
 * content, because a list of addresses or keys takes more work per unit, and a short one must not be blocked
 * for that.
 */
export const WORK_PER_UNIT = 8;
export const WORK_FLOOR = 1 << 20;

/**
 * The most levels of JSON inside JSON strings. Each level at least doubles the escapes, so real documents
 * have few.
 */
const NESTING_MAX = 8;

const UTF8_BYTES_PER_UNIT_MAX = 3;
const NONE: readonly Detector[] = [];

function searchText(search: Search, text: string): void {
  const head = takeWithinBytes(search, text);
  const matches: Match[] = [];
  searchViews(search, head, NONE, matches);
  addFindings(search, head, matches, 0, () => null);
}

function searchPayload(search: Search, content: Extract<Content, { kind: 'json' }>): void {
  const matches: Match[] = [];
  let cues: readonly Detector[] = NONE;
  let key = '';
  const commands = search.detection.command_detection ? createPayloadReader(search) : null;
  const end = walkContent(content, search.limits, (leaf) => {
    if (search.stopped !== null) return;
    const text = takeWithinBytes(search, leaf.text);
    const hasAnchors = searchViews(search, text, leaf.is_member ? cues : NONE, matches);
    if (leaf.is_member) dropExcluded(matches, key);
    if (leaf.kind === 'key') key = leaf.text;
    if (matches.length > 0) {
      if (leaf.kind === 'key') leaf.hide();
      addFindings(search, text, matches, leaf.index, leaf.path);
      matches.length = 0;
    }
    cues = leaf.kind === 'key' && hasAnchors ? findMemberDetectors(search.scanner, text) : NONE;
    commands?.visit(leaf);
  });
  commands?.end();
  if (search.has_commands) search.findings.sort((a, b) => a.leaf - b.leaf || a.start - b.start);
  if (end !== null) search.stopped ??= end.reason;
}

function createPayloadReader(search: Search): PayloadReader {
  const { call, detection } = search;
  const give = (found: FoundCommands) => addCommands(search, found);
  return createPayloadReaderOnDemand(give, detection, call);
}

/** Steps to reach a leaf. */
const LEAF_STEPS = 100;

/** Returns the part of the text that is within the byte limit. Ends the scan if the text is longer. */
function takeWithinBytes(search: Search, text: string): string {
  const { text_bytes_max } = search.limits;
  allowSteps(text.length + 1);
  countSteps(LEAF_STEPS);
  const bytesMax = text.length * UTF8_BYTES_PER_UNIT_MAX;
  if (search.bytes + search.uncounted_bytes_max + bytesMax <= text_bytes_max) {
    search.uncounted.push(text);
    search.uncounted_bytes_max += bytesMax;
    return text;
  }
  const bytesLeft = text_bytes_max - countBytes(search);
  const bytes = countUtf8Bytes(text);
  search.bytes += Math.min(bytes, bytesLeft);
  if (bytes <= bytesLeft) return text;
  search.stopped = `The text is longer than scan.text_bytes_max (${text_bytes_max} bytes).`;
  return truncateUtf8(text, bytesLeft);
}

/** Returns the UTF-8 bytes scanned so far, and empties `uncounted`. */
function countBytes(search: Search): number {
  for (const text of search.uncounted) search.bytes += countUtf8Bytes(text);
  search.uncounted.length = 0;
  search.uncounted_bytes_max = 0;
  return search.bytes;
}

/** A JSON document with escapes, and the document whose string contains it; `null` for the outermost one. */
interface View {
  readonly text: string;
  readonly around: View | null;
  /** Offset of `text` in the document around it. */
  readonly start: number;
  /** The offset of each unit, used instead of `start` if the string had escapes. */
  readonly offsets: Uint32Array | null;
  readonly nesting: number;
}

/**
 * Scans a text. If it is a JSON document with escapes, scans its leaves, so that escapes hide nothing;
 * matches get their offsets in `text`. `cues` are the detectors whose `member` key is the key before the
 * text. Returns whether the text has any anchor.
 */
function searchViews(search: Search, text: string, cues: readonly Detector[], matches: Match[]): boolean {
  matchCues(text, cues, matches);
  return isEscapedJson(text) ? searchDocuments(search, text, matches) : scanText(search, text, matches);
}

/** Scans the leaves of a document and of the documents in its strings. Returns whether any leaf has an anchor. */
function searchDocuments(search: Search, text: string, matches: Match[]): boolean {
  const documents: View[] = [{ text, around: null, start: 0, offsets: null, nesting: 0 }];
  let hasAnchors = false;
  for (let view = documents.pop(); view !== undefined; view = documents.pop()) {
    if (searchDocument(search, view, documents, matches)) hasAnchors = true;
    if (isFull(search, matches)) break;
  }
  return hasAnchors;
}

/**
 * Scans a document's leaves and adds leaves that are documents themselves to `documents`. Text that is not
 * valid JSON is scanned as written.
 */
function searchDocument(search: Search, view: View, documents: View[], matches: Match[]): boolean {
  const before = { matches: matches.length, documents: documents.length };
  const reading = view.nesting < NESTING_MAX ? readLeaves(search, view, documents, matches) : 'depth_max';
  if (reading === 'read') return true;
  if (reading !== 'malformed') {
    search.stopped ??= `JSON inside a string is over scan.${reading} (${search.limits[reading]}).`;
  }
  matches.length = before.matches;
  documents.length = before.documents;
  const found: Match[] = [];
  const hasAnchors = scanText(search, view.text, found);
  bringOut(found, view, matches);
  return hasAnchors;
}

function readLeaves(search: Search, view: View, documents: View[], matches: Match[]): JsonScanResult {
  const found: Match[] = [];
  let cues: readonly Detector[] = NONE;
  let key = '';
  return scanJson(view.text, search.limits, (leaf) => {
    if (isFull(search, matches)) return;
    const decoded = leaf.has_escapes ? decodeLeaf(view.text, leaf) : null;
    const text = decoded ?? view.text.slice(leaf.start, leaf.end);
    const isDocument = decoded !== null && isEscapedJson(text);
    if (leaf.is_member) matchCues(text, cues, found);
    const hasAnchors = !isDocument && scanText(search, text, found);
    if (leaf.is_member) dropExcluded(found, key);
    if (leaf.kind === 'key') key = text;
    cues = leaf.kind === 'key' && hasAnchors ? findMemberDetectors(search.scanner, text) : NONE;
    if (!isDocument && found.length === 0) return;
    const offsets = decoded === null ? null : mapLeafOffsets(view.text, leaf);
    const inner: View = { text, around: view, start: leaf.start, offsets, nesting: view.nesting + 1 };
    if (isDocument) documents.push(inner);
    bringOut(found, inner, matches);
  });
}

function scanText(search: Search, text: string, matches: Match[]): boolean {
  const { meter, scanner, detection } = search;
  // The patterns of the configuration may take the same work again.
  const shares = detection.patterns.length > 0 ? 2 : 1;
  meter.allowed += text.length * WORK_PER_UNIT * shares;
  const before = meter.work;
  const hasAnchors = scanDecoded(scanner, text, matches, matchesMax(search), meter);
  countSteps(meter.work - before);
  isFull(search, matches);
  if (meter.work > meter.allowed)
    search.stopped ??= `The text takes more than ${WORK_PER_UNIT} times the work of clean text.`;
  return hasAnchors;
}

/** Returns the matches that may still be found, plus one, so that an excess shows. */
function matchesMax({ limits, findings }: Search): number {
  return limits.findings_max - findings.length + 1;
}

/**
 * Returns whether there are more matches than findings allowed. The scan then ends, even if some matches are
 * dropped later.
 */
function isFull(search: Search, matches: readonly Match[]): boolean {
  if (matches.length < matchesMax(search)) return false;
  noteFull(search);
  return true;
}

function noteFull(search: Search): void {
  search.is_full ||= search.stopped === null;
  search.stopped ??= `There are more findings than scan.findings_max (${search.limits.findings_max}).`;
}

function matchCues(text: string, cues: readonly Detector[], matches: Match[]): void {
  for (const detector of cues) {
    const value = text.trim();
    if (!detector.member!.validate(value)) continue;
    const start = text.indexOf(value);
    matches.push({ detector, start, end: start + value.length });
  }
}

/** Removes matches of detectors whose `excluded_keys` match this key. */
function dropExcluded(matches: Match[], key: string): void {
  for (let at = matches.length - 1; at >= 0; at -= 1)
    if (matches[at]!.detector.excluded_keys?.test(key) === true) matches.splice(at, 1);
}

/** Adds matches in a view to `matches`, with offsets in the outermost text. */
function bringOut(found: Match[], view: View, matches: Match[]): void {
  for (const match of found.splice(0)) matches.push(mapToOutermost(match, view));
}

function mapToOutermost(match: Match, view: View): Match {
  let { start, end } = match;
  for (let at = view; at.around !== null; at = at.around) {
    start = at.offsets === null ? at.start + start : at.offsets[start]!;
    end = at.offsets === null ? at.start + end : at.offsets[end]!;
  }
  return { detector: match.detector, start, end };
}

/**
 * Returns the matches that are findings under the settings, sorted by offset, without those that another
 * match explains.
 */
export function resolveMatches(
  detection: Detection,
  text: string,
  matches: readonly Match[],
): readonly Match[] {
  return resolveOverlaps(matches.filter((match) => isReportedMatch(detection, text, match)));
}

/** Returns whether a match is a finding under the settings for its detector. */
function isReportedMatch(detection: Detection, text: string, { detector, start, end }: Match): boolean {
  const settings = resolveDetectorSettings(detection, detector);
  const value = text.slice(start, end);
  if (detector.id === COMMAND_IN_TEXT && !breaksRule(detection, value)) return false;
  return (
    hasEntropy(settings, value) && (detection.example_values !== 'ignore' || !isExample(detector, value))
  );
}

/** Returns whether a command in a text matches an enabled command rule. */
function breaksRule(detection: Detection, value: string): boolean {
  return findSevereRulesOnDemand(value).some(
    (rule) => resolveDetectorSettings(detection, buildRuleIdentity(rule)).is_enabled,
  );
}

/** The form of a documented key. A block of text can contain more than a key, so it is never an example. */
const KEY_FORM = /^[\w+/=.:-]{1,2000}$/;

/**
 * Returns whether a value is a documented example. A value found by its form alone (`shape`) is never an
 * example; otherwise `sk-ABCDEF1234567890` would be one.
 */
function isExample({ id, tags: [tag], strength }: Detector, value: string): boolean {
  if (id === 'url.credentials') return isLocalDefault(value);
  return covers('secret', tag) && strength !== 'shape' && KEY_FORM.test(value) && isDocumentedExample(value);
}

function addFindings(
  search: Search,
  text: string,
  matches: readonly Match[],
  leaf: number,
  path: () => string | null,
): void {
  const place = matches.length > 0 ? path() : null;
  for (const match of resolveMatches(search.detection, text, matches)) {
    if (search.findings.length >= search.limits.findings_max) {
      noteFull(search);
      return;
    }
    search.findings.push(
      buildFinding(search.detection, match, leaf, place, text.slice(match.start, match.end)),
    );
  }
}

/**
 * Builds the finding of a match in the leaf with the given number and path.
 * @param value - the matched text, which decides whether the finding is a documented example
 */
export function buildFinding(
  detection: Detection,
  { detector, start, end }: Match,
  leaf: number,
  path: string | null,
  value: string,
): Finding {
  const { id, detector: family, tags } = detector;
  const isExampleValue = detection.example_values === 'flag' && isExample(detector, value);
  const severity = isExampleValue
    ? 'low'
    : (resolveDetectorSettings(detection, detector).severity ?? detector.grade?.(value) ?? detector.severity);
  const finding: Finding = {
    rule_id: id,
    detector: family,
    type: getViolationType(tags[0]),
    severity,
    tags,
    start,
    end,
    leaf,
    path,
  };
  return isExampleValue ? { ...finding, example: true } : finding;
}

/**
 * Adds the findings of commands. Removes those of the detector for commands in text from the same leaves,
 * because the parsed command is more exact. A script that was not parsed to its end stops the scan as a
 * limit.
 */
function addCommands(search: Search, found: FoundCommands): void {
  search.has_commands ||= found.matches.length > 0;
  if (found.is_cut)
    search.stopped ??=
      'A command is longer, deeper or more entangled than is read (131,072 UTF-16 units, 10 levels, 56 units of work for each).';
  for (let at = search.findings.length - 1; (search.findings[at]?.leaf ?? -1) >= found.index; at--) {
    const { rule_id, leaf } = search.findings[at]!;
    if (rule_id === COMMAND_IN_TEXT && leaf <= found.last_index) search.findings.splice(at, 1);
  }
  for (const { rule, start, end } of found.matches) {
    const settings = resolveDetectorSettings(search.detection, buildRuleIdentity(rule));
    if (!settings.is_enabled) continue;
    if (search.findings.length >= search.limits.findings_max) {
      noteFull(search);
      break;
    }
    search.findings.push({
      rule_id: rule.id,
      detector: COMMAND_FAMILY,
      type: 'dangerous_command',
      severity: settings.severity ?? rule.severity,
      tags: [rule.tag],
      start,
      end,
      leaf: found.index,
      path: found.path,
    });
  }
}

/** Returns the type of the findings with a main tag. */
export function getViolationType(tag: string): ViolationType {
  if (covers('injection', tag)) return 'injection_detected';
  if (covers('dangerous', tag)) return 'dangerous_command';
  if (covers('secret', tag)) return 'secret_detected';
  return covers('personal', tag) ? 'pii_detected' : 'content_detected';
}

function getCoverage(search: Search): Coverage {
  const { stopped } = search;
  return stopped === null
    ? { status: 'full' }
    : { status: 'partial', reason: stopped, bytes: countBytes(search) };
}
