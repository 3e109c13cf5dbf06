import { buildFaultVerdict, judge, judgeScan } from '../decision/judge.ts';
import { redactPart } from '../decision/redact.ts';
import { buildFinding, resolveMatches, WORK_FLOOR, WORK_PER_UNIT } from '../detect/detect.ts';
import type { Match, WorkMeter } from '../detect/matching/compiled-detector.ts';
import type { Detector } from '../detect/matching/detector.ts';
import { countUtf8Bytes } from '../detect/matching/text-size.ts';
import type { ConditionEvaluator } from '../policy/conditions/facts.ts';
import { createUtf8Decoder, decodeUtf8, type Utf8Decoder } from '../text/utf8-decoder.ts';
import type {
  Action,
  Coverage,
  Crossing,
  Decision,
  Finding,
  Fingerprinter,
  JudgedFinding,
  Policy,
  Verdict,
} from '../types/index.ts';
import {
  type DocumentChange,
  type DocumentScan,
  feedDocumentScan,
  startDocumentScan,
} from './document-scan.ts';
import {
  findReleasableEnd,
  releaseText,
  type StreamScan,
  scanPiece,
  startStreamScan,
} from './stream-scan.ts';
import { readBuffer, sliceBuffer } from './text-buffer.ts';

/**
 * The maximum number of UTF-16 units that are held back. Text that could only be judged with more of it at once,
 * such as a longer run of base64, cannot be scanned in full and is therefore blocked.
 */
export const HELD_UNITS_MAX = 131_072;

/** The result of one piece that was pushed. */
export interface StreamRelease {
  /** The text that is released now, masked as the policy requires. */
  readonly text: string;
  /** `block`: the stream has ended and releases nothing more. */
  readonly decision: Decision;
  /** The findings in `text`; offsets count UTF-16 units from the beginning of the stream. */
  readonly findings: readonly JudgedFinding[];
  /** The verdict on the whole text; set once, when the stream ends. */
  readonly verdict: Verdict | null;
}

/** A text that crosses a boundary in pieces. `push` and `end` do not throw. */
export interface StreamGuard {
  /** Takes UTF-16 text or UTF-8 bytes, cut anywhere; one stream takes one kind. */
  readonly push: (piece: string | Uint8Array) => StreamRelease;
  /** Ends the text and returns the rest of it. */
  readonly end: () => StreamRelease;
  /** Returns all text that was pushed so far. */
  readonly text: () => string;
  /** Returns the number of pushed UTF-16 units that were released, unchanged or masked. */
  readonly released_units: () => number;
}

/**
 * Guards a text while it arrives. The concatenated output is the content of the verdict that `judge` returns for
 * the whole text, and `end` returns that verdict.
 *
 * Text is held back while it may belong to a secret, to personal data, or to another finding that the policy masks
 * or blocks; for ordinary prose that is about the last word. A JSON document is released as far as it is the same
 * whether it is read as a document or as one text. Some text is held whole: all text at `action`, where contracts
 * apply to the whole; and text for which a rule has a replacement text or a condition.
 *
 * Text is not held for lists of bytes, for tokens in several parts, or for text in reverse, which would hold every
 * word: lists of bytes are not found, and the other two end the stream where they are found after all.
 *
 * Phrases that express a request are scored over several sentences, which are not held for that. If such a finding
 * blocks or would be masked, the stream ends as soon as it is known, and its beginning may have been released. Once
 * a part was released, an exceeded limit, a fault or a late finding ends the stream with a block.
 */
export function openStream(
  policy: Policy,
  crossing: Omit<Crossing, 'content'>,
  fingerprintOf: Fingerprinter | null = null,
  conditions: ConditionEvaluator | null = null,
): StreamGuard {
  const state = startState(policy, crossing, fingerprintOf, conditions);
  const taking = (work: () => StreamRelease): StreamRelease => {
    if (state.has_ended) return releaseNothing('block');
    try {
      return work();
    } catch {
      return endStream(state, buildFaultVerdict(policy));
    }
  };
  return {
    push: (piece) => taking(() => pushPiece(state, piece)),
    end: () => taking(() => completeStream(state)),
    text: () => state.pieces.join(''),
    released_units: () => (state.has_ended ? state.units : state.look.released_units),
  };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface StreamState {
  readonly policy: Policy;
  readonly crossing: Crossing;
  readonly fingerprintOf: Fingerprinter | null;
  readonly conditions: ConditionEvaluator | null;
  readonly look: StreamScan;
  readonly meter: WorkMeter;
  readonly document: DocumentScan;
  readonly utf8: Utf8Decoder;
  /** All text that was pushed. */
  readonly pieces: string[];
  units: number;
  bytes: number;
  /** The first half of a surrogate pair whose second half is in the next piece. */
  half: string;
  /** `true` if the text is held until it is complete. */
  readonly is_whole: boolean;
  /** `true` if the scan as text has ended because it exceeded its limit of work. */
  is_over_work: boolean;
  /** A verdict that blocks the text whatever it contains. */
  readonly refused: Verdict | null;
  readonly findings: Finding[];
  /** The masked spans, ascending and disjoint. */
  readonly masked: Span[];
  has_ended: boolean;
}

const NO_UTF8 = 'The bytes are no UTF-8.';
const FULL: Coverage = { status: 'full' };
const STOPPING: ReadonlySet<Action> = new Set(['require_approval', 'block']);
const isChange = ({ action }: JudgedFinding): boolean => CHANGING.has(action);
const CHANGING: ReadonlySet<Action> = new Set(['redact', ...STOPPING]);

function startState(
  policy: Policy,
  open: Omit<Crossing, 'content'>,
  fingerprintOf: Fingerprinter | null,
  conditions: ConditionEvaluator | null,
): StreamState {
  const crossing: Crossing = { ...open, content: { kind: 'text', text: '' } };
  const meter: WorkMeter = { work: 0, allowed: STREAM_WORK_FLOOR };
  const request = judgeScan(crossing, policy, { findings: [], coverage: FULL }, null);
  const isWhole = needsWholeText(policy, crossing, request);
  const holds = selectHeldDetectors(policy, crossing);
  const look = startStreamScan(policy.detection, holds, meter);
  const judged = { policy, crossing, fingerprintOf };
  return {
    policy,
    crossing,
    fingerprintOf,
    conditions,
    look,
    meter,
    document: startDocumentScan({
      policy,
      holds,
      judge: (text, findings) => judgePart(judged, text, findings).filter(isChange),
      slice: (start, end) => sliceBuffer(look.text, start, end),
    }),
    utf8: createUtf8Decoder(),
    pieces: [],
    units: 0,
    bytes: 0,
    half: '',
    is_whole: isWhole,
    is_over_work: false,
    refused: request.decision === 'block' && !isWhole ? request : null,
    findings: [],
    masked: [],
    has_ended: false,
  };
}

/**
 * Returns a filter of detectors. Text that may hold secrets or personal data is always held, and text of other
 * detectors only if their findings change it.
 */
function selectHeldDetectors(policy: Policy, crossing: Crossing): (detector: Detector) => boolean {
  const known = new Map<Detector, boolean>();
  return (detector) => {
    const made = known.get(detector) ?? isHeld(detector, policy, crossing);
    known.set(detector, made);
    return made;
  };
}

function isHeld(detector: Detector, policy: Policy, crossing: Crossing): boolean {
  if (detector.weight !== undefined) return false;
  if (/^(?:secret|personal)\b/.test(detector.tags[0])) return true;
  const findings = [buildFinding(policy.detection, { detector, start: 0, end: 0 }, 0, null, '')];
  return judgeScan(crossing, policy, { findings, coverage: FULL }, null).findings.some(({ action }) =>
    CHANGING.has(action),
  );
}

/** Returns whether the decision can depend on the whole text. `request` is the verdict without any findings. */
function needsWholeText(policy: Policy, crossing: Crossing, request: Verdict): boolean {
  if (crossing.boundary === 'action') return true;
  if (crossing.declared_tags.length > 0 && request.decision === 'block') return true;
  const rules = [...policy.rules, ...policy.builtin_rules];
  // A condition may depend on the number of findings.
  return rules.some(
    (rule) => rule.when !== null || (rule.fallback_template !== null && rule.action === 'redact'),
  );
}

/**
 * The work allowed in addition to the work per unit. A stream scans decoded text around its end again with each piece, so
 * a short text takes up to twice the work that it takes as a whole.
 */
const STREAM_WORK_FLOOR = 2 * WORK_FLOOR;

function pushPiece(state: StreamState, piece: string | Uint8Array): StreamRelease {
  const text = typeof piece === 'string' ? piece : decodeUtf8(state.utf8, piece);
  if (text === null) return stopStream(state, NO_UTF8);
  const joined = state.half + text;
  const isHalf = (joined.charCodeAt(joined.length - 1) & 0xfc00) === 0xd800;
  state.half = isHalf ? joined.slice(-1) : '';
  return pushText(state, isHalf ? joined.slice(0, -1) : joined);
}

function pushText(state: StreamState, text: string): StreamRelease {
  const { policy, meter, document, pieces } = state;
  const { text_bytes_max } = policy.limits;
  if (state.refused !== null) return endStream(state, state.refused);
  pieces.push(text);
  state.units += text.length;
  state.bytes += countUtf8Bytes(text);
  meter.allowed += text.length * WORK_PER_UNIT;
  if (state.bytes > text_bytes_max)
    return stopStream(state, `The text is longer than scan.text_bytes_max (${text_bytes_max} bytes).`);
  if (!state.is_whole) scanNext(state, text);
  const isDocument = document.detector.state !== 'none';
  if (state.is_over_work && !isDocument)
    return stopStream(state, `The text takes more than ${WORK_PER_UNIT} times the work of clean text.`);
  const releaseNext = isDocument ? releaseDocument : releaseReady;
  const released = state.is_whole ? releaseNothing('allow') : releaseNext(state);
  if (released.verdict === null && state.units - state.look.released_units > HELD_UNITS_MAX)
    return stopStream(state, `More than ${HELD_UNITS_MAX} units would have to be held back.`);
  return released;
}

/** Scans a piece as text, and as a part of a document as long as the text may be one. */
function scanNext(state: StreamState, text: string): void {
  const { look, meter, document } = state;
  if (!state.is_over_work) scanPiece(look, text, false);
  state.is_over_work ||= meter.work > meter.allowed;
  document.is_held ||= state.is_over_work;
  if (document.detector.state !== 'none') feedDocumentScan(document, text);
}

/**
 * Releases the part of a document that is the same whether the text is read as a document or as one text. From the
 * first difference on, and from a finding that blocks, everything is held until the text has ended.
 */
function releaseDocument(state: StreamState): StreamRelease {
  const { policy, look, document, findings } = state;
  const from = look.released_units;
  if (document.is_held) return releaseNothing('allow');
  const most = findReleasableEnd(look, document.scanned_until);
  const text = sliceBuffer(look.text, from, most);
  const here = look.pending.filter(({ start }) => start >= from && start < most);
  const found = resolveMatches(
    policy.detection,
    text,
    here.map((match) => shiftSpan(match, -from)),
  ).map((match) => buildStreamFinding(policy, match, text));
  const asText = judgePart(state, text, found)
    .filter(isChange)
    .map((finding) => shiftSpan(finding, from));
  const asDocument = document.changes.filter(({ start }) => start < most);
  const late = [...look.alarms.splice(0), ...look.pending.filter(({ start }) => start < from)];
  const differsAt = findReleasedFindings(state, late).length > 0 ? from : findDifference(asText, asDocument);
  document.is_held = differsAt < Number.POSITIVE_INFINITY;
  const part = releaseText(look, findReleasableEnd(look, Math.min(most, differsAt)));
  const masked = asText.filter(({ start }) => start < look.released_units);
  document.changes.splice(0, masked.length);
  findings.push(...masked);
  for (const each of masked) addMask(state.masked, each);
  const shifted = masked.map((finding) => shiftSpan(finding, -from));
  return {
    text: masked.length === 0 ? part.text : redactPart(part.text, shifted, policy.redaction.typed),
    decision: masked.length === 0 ? 'allow' : 'modify',
    findings: masked,
    verdict: null,
  };
}

/** Releases the text that may be released, unless a finding in it, or an alarm, ends the stream. */
function releaseReady(state: StreamState): StreamRelease {
  const { policy, look, findings } = state;
  const from = look.released_units;
  const part = releaseText(look, findReleasableEnd(look));
  const alarms = [...look.alarms.splice(0), ...part.matches.filter(({ start }) => start < from)];
  if (part.matches.length + alarms.length === 0) return { ...releaseNothing('allow'), text: part.text };
  const here = part.matches.filter(({ start }) => start >= from).map((match) => shiftSpan(match, -from));
  const found = resolveMatches(policy.detection, part.text, here).map((match) =>
    buildStreamFinding(policy, match, part.text),
  );
  const judged = judgePart(state, part.text, found);
  findings.push(...found.map((finding) => shiftSpan(finding, from)));
  const late = findReleasedFindings(state, alarms);
  if (late.length > 0 || judged.some(({ action }) => STOPPING.has(action)))
    return blockStream(state, [...findings, ...late]);
  const { findings_max } = policy.limits;
  if (findings.length > findings_max)
    return stopStream(state, `There are more findings than scan.findings_max (${findings_max}).`);
  const masked = judged.filter(({ action }) => action === 'redact');
  for (const each of masked) addMask(state.masked, shiftSpan(each, from));
  return {
    text: masked.length === 0 ? part.text : redactPart(part.text, masked, policy.redaction.typed),
    decision: masked.length === 0 ? 'allow' : 'modify',
    findings: judged.map((finding) => shiftSpan(finding, from)),
    verdict: null,
  };
}

/** Judges the findings in a part of the text and returns those that are not allowlisted. */
function judgePart(
  { policy, crossing, fingerprintOf }: Pick<StreamState, 'policy' | 'crossing' | 'fingerprintOf'>,
  text: string,
  findings: readonly Finding[],
): readonly JudgedFinding[] {
  const part: Crossing = { ...crossing, content: { kind: 'text', text } };
  return judgeScan(part, policy, { findings, coverage: FULL }, fingerprintOf).findings;
}

/**
 * Returns the alarms in released text whose finding would have held the text back and is not covered by a mask.
 */
function findReleasedFindings(state: StreamState, alarms: readonly Match[]): readonly Finding[] {
  const { policy, look } = state;
  if (alarms.length === 0) return [];
  const { base } = look.text;
  const text = readBuffer(look.text);
  const found = alarms.map((match) => buildStreamFinding(policy, shiftSpan(match, -base), text));
  return judgePart(state, text, found)
    .filter(isChange)
    .map((finding) => shiftSpan(finding, base))
    .filter((finding) => finding.action !== 'redact' || !isMasked(state, finding));
}

/**
 * Returns the offset of the first change that only one of two readings has, or that does not only mask text;
 * `Infinity` if there is none.
 */
function findDifference(asText: readonly JudgedFinding[], asDocument: readonly DocumentChange[]): number {
  const length = Math.max(asText.length, asDocument.length);
  for (let at = 0; at < length; at++) {
    const [one, other] = [asText[at], asDocument[at]];
    if (one === undefined || other === undefined) return (one ?? other)!.start;
    const isEqual = one.start === other.start && one.end === other.end && one.rule_id === other.rule_id;
    if (!isEqual || other.is_number || STOPPING.has(one.action)) return Math.min(one.start, other.start);
  }
  return Number.POSITIVE_INFINITY;
}

function buildStreamFinding({ detection }: Policy, match: Match, text: string): Finding {
  return buildFinding(detection, match, 0, null, text.slice(match.start, match.end));
}

function shiftSpan<Placed extends Span>(placed: Placed, units: number): Placed {
  return { ...placed, start: placed.start + units, end: placed.end + units };
}

function completeStream(state: StreamState): StreamRelease {
  const { policy, crossing, look, utf8, pieces, document } = state;
  if (state.refused !== null) return endStream(state, state.refused);
  if (utf8.missing > 0) return stopStream(state, NO_UTF8);
  const before = state.half === '' ? releaseNothing('allow') : pushText(state, state.half);
  if (before.verdict !== null) return before;
  const text = pieces.join('');
  const isScanned = !state.is_whole && !state.is_over_work;
  if (isScanned) scanPiece(look, '', true);
  const isText = document.detector.state === 'none' || !text.includes('\\');
  const verdict =
    isScanned && isText && look.is_clean
      ? judgeScan(crossing, policy, { findings: [], coverage: FULL }, null, state.conditions)
      : judge(
          { ...crossing, content: { kind: 'text', text } },
          policy,
          state.fingerprintOf,
          state.conditions,
        );
  const rest = finishStream(state, text, verdict);
  return { ...rest, text: before.text + rest.text, findings: [...before.findings, ...rest.findings] };
}

/** Returns the rest of the text as the verdict on the whole text requires. */
function finishStream(state: StreamState, text: string, verdict: Verdict): StreamRelease {
  const { released_units } = state.look;
  if (verdict.decision === 'block') return endStream(state, verdict);
  const masked = verdict.findings.filter(({ action }) => action === 'redact');
  const isLate = masked.some((finding) => finding.start < released_units && !isMasked(state, finding));
  if (isLate) return endStream(state, buildLateVerdict(verdict));
  const content = verdict.content?.kind === 'text' ? verdict.content.text : text;
  const before = masked.filter(({ start }) => start < released_units);
  // The rest is cut from the whole content, because the mask of a number in a document has quotes of its own.
  const shown = redactPart(text.slice(0, released_units), before, state.policy.redaction.typed);
  return { ...endStream(state, verdict), text: content.slice(shown.length) };
}

function endStream(state: StreamState, verdict: Verdict): StreamRelease {
  state.has_ended = true;
  const { decision, findings } = verdict;
  return {
    text: '',
    decision,
    findings: findings.filter(({ start }) => start >= state.look.released_units),
    verdict,
  };
}

function releaseNothing(decision: Decision): StreamRelease {
  return { text: '', decision, findings: [], verdict: null };
}

function stopStream(state: StreamState, reason: string): StreamRelease {
  return endStream(
    state,
    judgeSoFar(state, state.findings, { status: 'partial', reason, bytes: state.bytes }),
  );
}

function blockStream(state: StreamState, findings: readonly Finding[]): StreamRelease {
  const verdict = judgeSoFar(state, findings, FULL);
  return endStream(state, verdict.decision === 'block' ? verdict : buildLateVerdict(verdict));
}

function judgeSoFar(
  { crossing, policy, pieces, fingerprintOf }: StreamState,
  findings: readonly Finding[],
  coverage: Coverage,
): Verdict {
  const whole: Crossing = { ...crossing, content: { kind: 'text', text: pieces.join('') } };
  return judgeScan(whole, policy, { findings, coverage }, fingerprintOf);
}

function buildLateVerdict(verdict: Verdict): Verdict {
  const reason = 'Something was found that had to be masked, in a part of the text that was already sent.';
  return { ...verdict, decision: 'block', action: 'block', reason, content: null };
}

/** Returns whether masks cover the whole finding. */
function isMasked({ masked }: StreamState, { start, end }: Finding): boolean {
  let low = 0;
  let high = masked.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (masked[middle]!.end <= start) low = middle + 1;
    else high = middle;
  }
  const mask = masked[low];
  return mask !== undefined && mask.start <= start && mask.end >= end;
}

function addMask(masked: Span[], { start, end }: Span): void {
  const last = masked.at(-1);
  if (last === undefined || start > last.end) masked.push({ start, end });
  else masked[masked.length - 1] = { start: last.start, end: Math.max(last.end, end) };
}
