import type { WireUsage } from '../../core/wire/wire-format.ts';
import type { ChargedUsage, Cost, Reservation } from '../../features/costs/types.ts';
import type { CallCounts } from '../../runtime/observability/call-counts.ts';
import type { CallSpan } from '../../runtime/observability/telemetry/types.ts';
import type { UpstreamAnswer } from '../upstream/types.ts';

/** What one call comes to: settled with its budgets, and told to who watches, once. */
export interface CallAccount {
  readonly answered: (answer: UpstreamAnswer) => void;
  /** A piece of a stream came. */
  readonly chunk: () => void;
  /** What the provider says of its answer by now. */
  readonly report: (said: ProviderReport) => void;
  /** Settles. `error` names why the call did not come to its end; `spent` is `null` where nothing was. */
  readonly end: (error: string | null, spent: UsageEstimate | null) => void;
}

export interface ProviderReport {
  readonly usage: WireUsage | null;
  readonly id: string | null;
  readonly model: string | null;
  readonly finish_reasons: readonly string[];
}

/** What is taken where the provider did not say, or did not come to its end. */
export interface UsageEstimate {
  readonly estimate: WireUsage;
  readonly is_whole: boolean;
}

export interface CallAccountParts {
  readonly reservation: Reservation;
  /** As the request was let name it. */
  readonly model: string | null;
  /** Whether nothing is found in a name or an id of the provider, so that traces and metrics may say it. */
  readonly hasNoFindings: (word: string) => boolean;
  readonly span: CallSpan | null;
  readonly calls: CallCounts | null;
  /** Sees the settling through that goes on behind the call. */
  readonly keep: (settling: Promise<unknown>) => void;
}

/** Opens the account of a call that is sent. */
export function openCallAccount(parts: CallAccountParts): CallAccount {
  const { reservation, model: asked_model, hasNoFindings, span, calls, keep } = parts;
  const plain = (word: string | null): string | null => (word === null || !hasNoFindings(word) ? null : word);
  const began_ms = performance.now();
  let is_answered = false;
  let provider = 'unknown';
  let model = asked_model ?? 'unknown';
  let known: WireUsage | null = null;
  let answer: Omit<ProviderReport, 'usage'> = { id: null, model: null, finish_reasons: [] };
  let is_over = false;
  return {
    answered: (answered) => {
      is_answered = true;
      provider = answered.provider;
      model = answered.model ?? model;
      span?.answered(answered);
    },
    chunk: () => span?.chunk(),
    report: (said) => {
      known = said.usage ?? known;
      answer = {
        id: answer.id ?? plain(said.id),
        model: answer.model ?? plain(said.model),
        finish_reasons:
          said.finish_reasons.length === 0
            ? answer.finish_reasons
            : [...answer.finish_reasons, ...said.finish_reasons.filter(hasNoFindings)],
      };
    },
    end: (error, spent) => {
      if (is_over) return;
      is_over = true;
      if (is_answered) calls?.finished(provider, (performance.now() - began_ms) / 1_000);
      const used = spent === null ? null : selectUsage(known, spent);
      const usage: ChargedUsage | null = used === null ? null : { ...used, provider, model };
      const tell = (cost: Cost | null) => {
        const micro_usd = usage === null ? null : (cost?.micro_usd ?? null);
        span?.end({ ...answer, error, usage: known, micro_usd });
      };
      const settling = reservation.settle(usage).then(tell, (fault) => {
        tell(null);
        throw fault;
      });
      keep(settling);
    },
  };
}

/** Where an answer breaks off, what was said by then leaves out what came since. */
function selectUsage(
  known: WireUsage | null,
  { estimate, is_whole }: UsageEstimate,
): WireUsage & { readonly is_estimated: boolean } {
  if (known === null) return { ...estimate, is_estimated: true };
  if (is_whole) return { ...known, is_estimated: false };
  const output_tokens = Math.max(known.output_tokens, estimate.output_tokens);
  return { ...known, output_tokens, is_estimated: true };
}
