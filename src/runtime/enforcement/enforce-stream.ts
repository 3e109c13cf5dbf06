import { findContract } from '../../core/decision/find-contract.ts';
import { buildFaultVerdict, judge } from '../../core/decision/judge.ts';
import { openJoinedStream } from '../../core/stream/joined-stream.ts';
import {
  isUntouched,
  type JudgedText,
  mergeContents,
  mergeVerdicts,
} from '../../core/stream/merge-verdicts.ts';
import { openStream, type StreamGuard } from '../../core/stream/stream.ts';
import type { Crossing, CrossingContext, Verdict } from '../../core/types/index.ts';
import type { Caller } from '../access/types.ts';
import type { Endpoint } from '../observability/endpoint.ts';
import { classifyStream } from './classify-stream.ts';
import { NO_TEXT } from './crossings.ts';
import {
  blockFenced,
  type DecisionContext,
  decideWithSession,
  hasLostLease,
  loadConditionsOrNull,
  openDecision,
  recordRuling,
  refuseUnjudged,
} from './enforce.ts';
import { findSessionNeeds } from './sessions/index.ts';
import type { EnforcementExtras, EnforcementPorts, Ruling, UnrecordedRuling } from './types.ts';

/** Texts that arrive in pieces and cross together, with one decision on all of them. */
export interface GuardedStream {
  /**
   * If true, a classifier decides on the whole: nothing may be forwarded before `finish` has resolved with a ruling that
   * does not block.
   */
  readonly is_held: boolean;
  /**
   * Opens one more text; `null` if nothing may be forwarded, and then `finish` gives the reason. Clients join
   * the text with each of `contexts`: see `openJoinedStream`.
   */
  readonly open: (contexts?: readonly string[]) => StreamGuard | null;
  /**
   * Judges a complete text and returns it as it may be forwarded, or `null` if it may not. A text without
   * findings is not kept, because a stream may carry any number of them.
   */
  readonly judge: (text: string) => string | null;
  /**
   * Ends every open text. Resolves with the ruling on the whole content when its event is durable. Never rejects.
   */
  readonly finish: () => Promise<Ruling>;
}

/**
 * Decides on texts that arrive in pieces, as `enforce` decides on one that is whole: `core/stream` judges each text as
 * it arrives, and the end of the stream resolves and records the verdict on all of them. Never rejects.
 */
export async function enforceStream(
  given: CrossingContext,
  caller: Caller,
  endpoint: Endpoint,
  ports: EnforcementPorts,
  extras: EnforcementExtras = {},
): Promise<GuardedStream> {
  const context = openDecision(given, caller, endpoint, ports, extras);

  // Load conditions.
  const conditions = await loadConditionsOrNull(ports.policy);
  const texts = openTexts(ports, conditions);

  // Load the session. It brackets the verdict, so this decision is open until the stream ends.
  const decision = await beginDecision({ ...given, content: NO_TEXT }, ports, context, (crossing) => {
    // Call the classifiers, and resolve the approval.
    if (texts.isEmpty()) texts.open(crossing);
    return resolveVerdict(texts, crossing, caller, ports, conditions);
  });

  // Record.
  const record = async (): Promise<Ruling> => {
    const decided = await decision.end();
    const crossing = { ...decided.crossing, content: mergeContents(texts.end()) };
    return recordRuling({ ...decided, crossing }, texts.scan_ms(), context);
  };

  // Judge, until the stream ends.
  let { crossing } = decision;
  let recorded: Promise<Ruling> | null = null;
  return {
    is_held: ports.classifiers?.appliesTo(given) ?? false,
    open: (contexts) => (crossing === null ? null : texts.open(crossing, contexts)),
    judge: (text) => (crossing === null ? null : texts.judge(crossing, text)),
    finish: () => {
      crossing = null;
      recorded ??= record();
      return recorded;
    },
  };
}

type ResolveCrossing = (crossing: Crossing) => Promise<UnrecordedRuling>;

/** A decision between the loading of its session and its verdict. */
interface OpenDecision {
  /** The crossing with the state of its session; `null` if it was decided without it, so that no text is judged. */
  readonly crossing: Crossing | null;
  /** Lets the verdict be resolved. */
  readonly end: () => Promise<UnrecordedRuling>;
}

async function beginDecision(
  request: Crossing,
  ports: EnforcementPorts,
  context: DecisionContext,
  resolveAtEnd: ResolveCrossing,
): Promise<OpenDecision> {
  const loaded = Promise.withResolvers<Crossing>();
  const ended = Promise.withResolvers<void>();
  const decided = decideStream(request, ports, context, async (crossing) => {
    loaded.resolve(crossing);
    await ended.promise;
    return resolveAtEnd(crossing);
  });
  const crossing = await Promise.race([loaded.promise, decided.then(() => null)]);
  const end = (): Promise<UnrecordedRuling> => {
    ended.resolve();
    return decided;
  };
  return { crossing, end };
}

/** Decides with the state of the session. The texts of a blocked agent are not judged, and none without a lease. */
async function decideStream(
  request: Crossing,
  ports: EnforcementPorts,
  context: DecisionContext,
  resolveOn: ResolveCrossing,
): Promise<UnrecordedRuling> {
  const refused = refuseUnjudged(request, ports);
  if (refused !== null) return refused;
  const { policy } = ports;
  const needs = findSessionNeeds(request, policy, findContract(request, policy));
  if (needs !== null && hasLostLease(ports)) return blockFenced(request, ports);
  return needs === null ? resolveOn(request) : decideWithSession(request, needs, resolveOn, ports, context);
}

/**
 * Merges the verdicts on all texts. A verdict that requires approval stays a block, because a half-sent answer cannot
 * wait. A fault is a block too.
 */
async function resolveVerdict(
  texts: StreamTexts,
  crossing: Crossing,
  caller: Caller,
  ports: EnforcementPorts,
  conditions: Conditions,
): Promise<UnrecordedRuling> {
  const { resolveApproval, policy } = ports;
  try {
    const judgedTexts = texts.end();
    const whole = { ...crossing, content: mergeContents(judgedTexts) };
    const classified = await classifyStream(mergeVerdicts(judgedTexts), whole, ports, conditions);
    const { verdict: judged } = classified;
    if (judged.action !== 'require_approval' || resolveApproval === undefined || hasLostLease(ports))
      return { crossing, ...classified, approval: null };
    const resolved = await resolveApproval({
      ...{ judged, crossing: whole, caller },
      approval_request_id: null,
      judgeWith: () => judged,
    });
    return { crossing, ...classified, ...resolved };
  } catch {
    return { crossing, verdict: buildFaultVerdict(policy), approval: null };
  }
}

/** The texts of one stream. */
interface StreamTexts {
  readonly open: (crossing: Crossing, contexts?: readonly string[]) => StreamGuard;
  /** Returns a complete text as it may be forwarded, or `null` if it may not. */
  readonly judge: (crossing: Crossing, text: string) => string | null;
  readonly isEmpty: () => boolean;
  /** Ends the texts that are still open, and returns all. */
  readonly end: () => readonly JudgedText[];
  readonly scan_ms: () => number;
}

function openTexts({ policy, fingerprintOf = null }: EnforcementPorts, conditions: Conditions): StreamTexts {
  const texts: TimedText[] = [];
  return {
    open: (crossing, contexts = []) => {
      const openOne = () => openStream(policy, crossing, fingerprintOf, conditions);
      const own = openOne();
      const timed = startTimed(contexts.length === 0 ? own : openJoinedStream(own, contexts, openOne));
      texts.push(timed);
      return timed.stream;
    },
    judge: (crossing, text) => {
      const beforeMs = performance.now();
      const verdict = judge(
        { ...crossing, content: { kind: 'text', text } },
        policy,
        fingerprintOf,
        conditions,
      );
      const ms = performance.now() - beforeMs;
      if (!isUntouched(verdict)) texts.push({ stream: createEndedStream(text), spent: { ms, verdict } });
      if (verdict.decision === 'block') return null;
      return verdict.content?.kind === 'text' ? verdict.content.text : text;
    },
    isEmpty: () => texts.length === 0,
    end: () => texts.map(getJudgedText),
    scan_ms: () => texts.reduce((sum, { spent }) => sum + spent.ms, 0),
  };
}

type Conditions = Awaited<ReturnType<typeof loadConditionsOrNull>>;

interface TimedText {
  readonly stream: StreamGuard;
  readonly spent: { ms: number; verdict: Verdict | null };
}

function startTimed(inner: StreamGuard): TimedText {
  const spent: TimedText['spent'] = { ms: 0, verdict: null };
  const timed = (work: () => ReturnType<StreamGuard['end']>) => {
    const beforeMs = performance.now();
    const released = work();
    spent.ms += performance.now() - beforeMs;
    spent.verdict ??= released.verdict;
    return released;
  };
  const stream: StreamGuard = {
    push: (piece) => timed(() => inner.push(piece)),
    end: () => timed(() => inner.end()),
    text: inner.text,
    released_units: inner.released_units,
  };
  return { stream, spent };
}

/** A stream for a complete text that was judged. */
function createEndedStream(text: string): StreamGuard {
  const nothing = () => ({ text: '', decision: 'block', findings: [], verdict: null }) as const;
  return { push: nothing, end: nothing, text: () => text, released_units: () => text.length };
}

/** Ends a text that is still open. */
function getJudgedText({ stream, spent }: TimedText): JudgedText {
  if (spent.verdict === null) stream.end();
  if (spent.verdict === null) throw new Error('a stream that has ended gives its verdict');
  return { text: stream.text(), verdict: spent.verdict };
}
