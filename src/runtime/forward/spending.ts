import type { WireUsage } from '../../core/wire/types.ts';
import type { Reservation } from './types.ts';

/** What one call comes to, settled once. */
export interface Spending {
  /** Who answers. */
  readonly at: (provider: string, model: string | null) => void;
  /** What the provider says that it came to by now. */
  readonly said: (usage: WireUsage) => void;
  /** Settles by what the provider said, else by an estimate of what went in and came out. */
  readonly settle: (estimate: WireUsage, is_whole: boolean) => void;
  /** Settles that nothing was spent. */
  readonly nothing: () => void;
}

/** Opens the account of a call; `keep` is told of the settling that goes on, and must see it through. */
export function openSpending(
  reservation: Reservation,
  asked_model: string | null,
  keep: (settling: Promise<unknown>) => void,
): Spending {
  let provider = 'unknown';
  let model = asked_model ?? 'unknown';
  let known: WireUsage | null = null;
  let is_settled = false;
  const once = (usage: Parameters<Reservation['settle']>[0]): void => {
    if (is_settled) return;
    is_settled = true;
    keep(reservation.settle(usage));
  };
  return {
    at: (name, answering) => {
      provider = name;
      model = answering ?? model;
    },
    said: (usage) => {
      known = usage;
    },
    settle: (estimate, is_whole) => {
      const is_estimated = known === null || !is_whole;
      const usage = known === null ? estimate : is_whole ? known : atLeast(known, estimate);
      once({ ...usage, provider, model, is_estimated });
    },
    nothing: () => once(null),
  };
}

/** Where an answer breaks off, what was said by then leaves out what came since. */
function atLeast(known: WireUsage, estimate: WireUsage): WireUsage {
  return { ...known, output_tokens: Math.max(known.output_tokens, estimate.output_tokens) };
}
