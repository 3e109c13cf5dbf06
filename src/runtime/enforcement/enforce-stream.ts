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
import type { ResolvedVerdict } from './approvals/types.ts';
import { NO_TEXT } from './crossings.ts';
import {
  checkAgentBlock,
  decideWithSession,
  loadConditionsOrNull,
  openDecision,
  recordRuling,
} from './enforce.ts';
import { needsSession, type SessionDecision } from './sessions/index.ts';
import type { EnforcementExtras, EnforcementPorts, JudgedCrossing } from './types.ts';

/** Texts that arrive in pieces and cross together, with one decision on all of them. */
export interface GuardedStream {
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
   * Ends every open text. Resolves with the ruling when its event is durable, and with the crossing of the whole
   * content. Never rejects.
   */
  readonly finish: () => Promise<JudgedCrossing>;
}

/** Decides with the state of the session. The texts of a blocked agent are not scanned. */
async function decidedIn(
  asked: Crossing,
  decideOn: (crossing: Crossing) => Promise<ResolvedVerdict>,
  ports: EnforcementPorts,
): Promise<SessionDecision<ResolvedVerdict>> {
  const stopped = checkAgentBlock(asked, ports);
  if (stopped !== null) return { crossing: asked, outcome: stopped };
  if (needsSession(asked, ports.policy)) return decideWithSession(asked, decideOn, ports);
  return { crossing: asked, outcome: await decideOn(asked) };
}

/**
 * Decides on texts that arrive in pieces: loads the session, passes each text through `core/stream`, and at the
 * end resolves and records the verdict on all of them as `enforce` does. Never rejects.
 */
export async function enforceStream(
  given: CrossingContext,
  caller: Caller,
  endpoint: Endpoint,
  ports: EnforcementPorts,
  extras: EnforcementExtras = {},
): Promise<GuardedStream> {
  const about = openDecision(given, caller, endpoint, ports, extras);
  const conditions = await loadConditionsOrNull(ports.policy);
  const begun = Promise.withResolvers<Crossing>();
  const ended = Promise.withResolvers<void>();
  const texts: TimedText[] = [];
  const judgeIn = (crossing: Crossing, text: string): Verdict => {
    const before_ms = performance.now();
    const asked = { ...crossing, content: { kind: 'text', text } } as const;
    const verdict = judge(asked, ports.policy, ports.fingerprintOf ?? null, conditions);
    const ms = performance.now() - before_ms;
    if (!isUntouched(verdict)) texts.push({ stream: endedStream(text), spent: { ms, verdict } });
    return verdict;
  };
  const openIn = (crossing: Crossing, contexts: readonly string[] = []): StreamGuard => {
    const opened = () => openStream(ports.policy, crossing, ports.fingerprintOf ?? null, conditions);
    const own = opened();
    const timed = startTimed(contexts.length === 0 ? own : openJoinedStream(own, contexts, opened));
    texts.push(timed);
    return timed.stream;
  };
  const asked = { ...given, content: NO_TEXT };
  const decideOn = async (crossing: Crossing): Promise<ResolvedVerdict> => {
    begun.resolve(crossing);
    await ended.promise;
    if (texts.length === 0) openIn(crossing);
    return settled(texts, crossing, caller, ports);
  };
  const decided = decidedIn(asked, decideOn, ports);
  const crossing = await Promise.race([begun.promise, decided.then(() => null)]);
  const finish = async (): Promise<JudgedCrossing> => {
    ended.resolve();
    const { crossing: known, outcome } = await decided;
    const scan_ms = texts.reduce((sum, { spent }) => sum + spent.ms, 0);
    const crossed = { ...known, content: mergeContents(texts.map(judgedText)) };
    return { ruling: await recordRuling(outcome, scan_ms, crossed, about), crossing: crossed };
  };
  let finished: Promise<JudgedCrossing> | null = null;
  return {
    open: (contexts) => (crossing === null || finished !== null ? null : openIn(crossing, contexts)),
    judge: (text) => {
      if (crossing === null || finished !== null) return null;
      const { decision, content } = judgeIn(crossing, text);
      if (decision === 'block') return null;
      return content?.kind === 'text' ? content.text : text;
    },
    finish: () => {
      finished ??= finish();
      return finished;
    },
  };
}

/**
 * A verdict that requires approval stays a block, because a half-sent answer cannot wait. A fault is a block
 * too.
 */
async function settled(
  texts: readonly TimedText[],
  crossing: Crossing,
  caller: Caller,
  { resolveApproval, policy }: EnforcementPorts,
): Promise<ResolvedVerdict> {
  try {
    const judged_texts = texts.map(judgedText);
    const judged = mergeVerdicts(judged_texts);
    if (judged.action !== 'require_approval' || resolveApproval === undefined)
      return { verdict: judged, approval: null };
    const crossed = { ...crossing, content: mergeContents(judged_texts) };
    return await resolveApproval({
      judged,
      crossing: crossed,
      caller,
      approval_request_id: null,
      judgeWith: () => judged,
    });
  } catch {
    return { verdict: buildFaultVerdict(policy), approval: null };
  }
}

interface TimedText {
  readonly stream: StreamGuard;
  readonly spent: { ms: number; verdict: Verdict | null };
}

function startTimed(inner: StreamGuard): TimedText {
  const spent: TimedText['spent'] = { ms: 0, verdict: null };
  const timed = (work: () => ReturnType<StreamGuard['end']>) => {
    const before_ms = performance.now();
    const released = work();
    spent.ms += performance.now() - before_ms;
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
function endedStream(text: string): StreamGuard {
  const nothing = () => ({ text: '', decision: 'block', findings: [], verdict: null }) as const;
  return { push: nothing, end: nothing, text: () => text, released_units: () => text.length };
}

/** Ends a text that is still open. */
function judgedText({ stream, spent }: TimedText): JudgedText {
  if (spent.verdict === null) stream.end();
  if (spent.verdict === null) throw new Error('a stream that has ended gives its verdict');
  return { text: stream.text(), verdict: spent.verdict };
}
