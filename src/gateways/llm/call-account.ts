import type { WireUsage } from '../../core/wire/wire-format.ts';
import type { ChargedUsage, Cost, Reservation } from '../../operations/model-costs.ts';
import type { CallCounts } from '../../runtime/observability/call-counts.ts';
import type { CallSpan } from '../../runtime/observability/telemetry/types.ts';
import type { UpstreamAnswer } from '../upstream/types.ts';

/** The account of one model call. It settles the call's budgets and ends its span, once. */
export interface CallAccount {
  readonly answered: (answer: UpstreamAnswer) => void;
  /** Records that one chunk of a stream arrived. */
  readonly chunk: () => void;
  /** Records what the provider has reported about its answer so far. */
  readonly report: (stated: ProviderReport) => void;
  /** Returns the usage that the provider has reported so far, with its cost; `null` if it has reported none. */
  readonly readUsage: () => CallUsage | null;
  /** Settles. `error` names the reason if the call did not complete. `spent` is `null` if nothing was spent. */
  readonly end: (error: string | null, spent: UsageEstimate | null) => void;
}

/** The tokens and the cost of one call, as its audit event holds them. */
export interface CallUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Millionths of a US dollar; whole. */
  readonly micro_usd: number;
}

/** The usage, id, model and finish reasons that a provider reports. */
export interface ProviderReport {
  readonly usage: WireUsage | null;
  readonly id: string | null;
  readonly model: string | null;
  readonly finish_reasons: readonly string[];
}

/**
 * The usage that is charged if the provider reports none or its answer breaks off. `is_whole`: the answer is
 * complete.
 */
export interface UsageEstimate {
  readonly estimate: WireUsage;
  readonly is_whole: boolean;
}

/** The dependencies of a call's account. */
export interface CallAccountParts {
  readonly reservation: Reservation;
  /** The requested model, as the policy rewrote it. */
  readonly model: string | null;
  /** Returns whether a name or id of the provider has no findings. Only then traces and metrics may contain it. */
  readonly hasNoFindings: (word: string) => boolean;
  readonly span: CallSpan | null;
  readonly calls: CallCounts | null;
  /** Tracks the settlement, which finishes after the call. */
  readonly keep: (settling: Promise<unknown>) => void;
}

/** Opens the account of a call before it is sent. */
export function openCallAccount(parts: CallAccountParts): CallAccount {
  const { reservation, model: requestedModel, hasNoFindings, span, calls, keep } = parts;
  const plain = (word: string | null): string | null => (word === null || !hasNoFindings(word) ? null : word);
  const beganMs = performance.now();
  let isAnswered = false;
  let provider = 'unknown';
  let model = requestedModel ?? 'unknown';
  let known: WireUsage | null = null;
  let answer: Omit<ProviderReport, 'usage'> = { id: null, model: null, finish_reasons: [] };
  let isOver = false;
  return {
    answered: (answered) => {
      isAnswered = true;
      provider = answered.provider;
      model = answered.model ?? model;
      span?.answered(answered);
    },
    chunk: () => span?.chunk(),
    report: (stated) => {
      known = stated.usage ?? known;
      answer = {
        id: answer.id ?? plain(stated.id),
        model: answer.model ?? plain(stated.model),
        finish_reasons:
          stated.finish_reasons.length === 0
            ? answer.finish_reasons
            : [...answer.finish_reasons, ...stated.finish_reasons.filter(hasNoFindings)],
      };
    },
    readUsage: () => {
      if (known === null) return null;
      const { input_tokens, output_tokens } = known;
      const { micro_usd } = reservation.computeCost({ ...known, provider, model, is_estimated: false });
      return { input_tokens, output_tokens, micro_usd };
    },
    end: (error, spent) => {
      if (isOver) return;
      isOver = true;
      if (isAnswered) calls?.finished(provider, (performance.now() - beganMs) / 1_000);
      const used = spent === null ? null : selectUsage(known, spent);
      const usage: ChargedUsage | null = used === null ? null : { ...used, provider, model };
      const reportCost = (cost: Cost | null) => {
        const microUsd = usage === null ? null : (cost?.micro_usd ?? null);
        span?.end({ ...answer, error, usage: known, micro_usd: microUsd });
      };
      const settling = reservation.settle(usage).then(reportCost, (fault) => {
        reportCost(null);
        throw fault;
      });
      keep(settling);
    },
  };
}

/**
 * Selects the usage to charge. If an answer breaks off, the provider has not reported its last tokens, so the larger of
 * the reported and the estimated output counts.
 */
function selectUsage(
  known: WireUsage | null,
  { estimate, is_whole }: UsageEstimate,
): WireUsage & { readonly is_estimated: boolean } {
  if (known === null) return { ...estimate, is_estimated: true };
  if (is_whole) return { ...known, is_estimated: false };
  const outputTokens = Math.max(known.output_tokens, estimate.output_tokens);
  return { ...known, output_tokens: outputTokens, is_estimated: true };
}
