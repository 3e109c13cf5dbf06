import type { JudgedFinding, Verdict } from '../types/index.ts';
import type { StreamGuard, StreamRelease } from './stream.ts';

/** UTF-16 units of the preceding text that are scanned together with a text. */
export const CONTEXT_UNITS = 4_096;

interface Part {
  /** The offset in the original text at which the part ends. */
  readonly until: number;
  readonly text: string;
}

/**
 * The stream of a context followed by the text. Its output is dropped; it only limits what `own` may release.
 */
interface Shadow {
  readonly stream: StreamGuard;
  readonly context_units: number;
  /** Findings that the policy masks and that the text's own stream has not reached yet. */
  pending: readonly JudgedFinding[];
}

/**
 * Guards a text that clients concatenate with earlier texts, each of `contexts` in another way. The output is what
 * `own` releases, limited to what the stream of every context releases too. If the policy would mask or block a
 * finding that exists only in the concatenation, the stream ends with a block.
 *
 * @param opened - opens the stream for one context and the text after it
 */
export function openJoinedStream(
  own: StreamGuard,
  contexts: readonly string[],
  opened: () => StreamGuard,
): StreamGuard {
  const shadows: Shadow[] = [];
  const masked: JudgedFinding[] = [];
  const parts: Part[] = [];
  let stopped: { readonly by: StreamGuard; readonly verdict: Verdict } | null = null;
  const stop = (by: StreamGuard, ended: Verdict | null): StreamRelease => {
    const verdict = toBlockingVerdict(ended ?? by.end().verdict);
    stopped = { by, verdict };
    return { ...NOTHING, decision: 'block', verdict };
  };
  for (const context of contexts) {
    const stream = opened();
    const { decision } = stream.push(context);
    // The context was judged when it was released. A block of the context alone ended that stream already.
    if (decision !== 'block') shadows.push({ stream, context_units: context.length, pending: [] });
  }
  const take = (released: StreamRelease, follow: (stream: StreamGuard) => StreamRelease): StreamRelease => {
    if (released.decision === 'block') return released;
    if (released.text !== '') parts.push({ until: own.released_units(), text: released.text });
    masked.push(...released.findings.filter(({ action }) => action === 'redact'));
    let until = own.released_units();
    for (const shadow of shadows) {
      const followed = follow(shadow.stream);
      if (followed.decision === 'block') return stop(shadow.stream, followed.verdict);
      const limit = findReleaseLimit(shadow, followed, masked, own.released_units());
      if (limit === null) return stop(shadow.stream, followed.verdict);
      until = Math.min(until, limit);
    }
    const ready = parts.filter((part) => part.until <= until);
    parts.splice(0, ready.length);
    return { ...released, text: ready.map(({ text }) => text).join('') };
  };
  return {
    push: (piece) => {
      if (stopped !== null) return { ...NOTHING, decision: 'block' };
      return take(own.push(piece), (stream) => stream.push(piece));
    },
    end: () => {
      if (stopped !== null) return { ...NOTHING, decision: 'block' };
      return take(own.end(), (stream) => stream.end());
    },
    text: () => stopped?.by.text() ?? own.text(),
    released_units: () => own.released_units(),
  };
}

const NOTHING: StreamRelease = { text: '', decision: 'allow', findings: [], verdict: null };

/**
 * Returns the offset up to which the text may be released; `null` if a finding is masked only together with the
 * context.
 */
function findReleaseLimit(
  shadow: Shadow,
  { findings, verdict }: StreamRelease,
  masked: readonly JudgedFinding[],
  reached: number,
): number | null {
  const { context_units, stream } = shadow;
  const found = findings
    .filter(({ action, end }) => action === 'redact' && end > context_units)
    .map((finding) => ({
      ...finding,
      start: Math.max(0, finding.start - context_units),
      end: finding.end - context_units,
    }));
  let limit = verdict === null ? stream.released_units() - context_units : Number.POSITIVE_INFINITY;
  const pending: JudgedFinding[] = [];
  for (const each of [...shadow.pending, ...found]) {
    if (isCovered(each, masked)) continue;
    if (reached >= each.end) return null;
    pending.push(each);
    limit = Math.min(limit, each.start);
  }
  shadow.pending = pending;
  return limit;
}

function isCovered({ start, end }: JudgedFinding, masked: readonly JudgedFinding[]): boolean {
  return masked.some((mask) => mask.start <= start && mask.end >= end);
}

const REASON = 'Texts that clients combine hold something that must not pass as a whole.';

function toBlockingVerdict(verdict: Verdict | null): Verdict {
  if (verdict === null) throw new Error('a stream that has ended gives its verdict');
  if (verdict.decision === 'block') return verdict;
  return { ...verdict, decision: 'block', action: 'block', reason: REASON, content: null };
}
