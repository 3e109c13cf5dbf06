import type { Crossing } from '../../../core/types/index.ts';
import { StoreFailure } from '../../../platform/store/failure.ts';
import { CAUSE_MESSAGES } from './misfit.ts';
import type { Capabilities, CapabilityCause, CapabilityPresentation } from './types.ts';

/** The result of a capability token, as a crossing carries it. */
export type CrossingCapability = NonNullable<Crossing['capability']>;

/**
 * Presents a token for a crossing. `use` consumes one use, `check` only tests whether the token would be
 * accepted. Rejects for an internal fault only; an unreachable store is a refusal.
 */
export async function presentCapability(
  how: 'use' | 'check',
  capabilities: () => Promise<Capabilities>,
  presented: CapabilityPresentation,
): Promise<CrossingCapability> {
  try {
    const shown = await (await capabilities())[how](presented);
    return { token_id: shown.token_id, refusal: shown.taken ? null : getRefusal(shown.cause) };
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error;
    const reason = 'The capability token could not be checked, because the store is not available.';
    return { token_id: null, refusal: { rule: 'fault.store', reason } };
  }
}

function getRefusal(cause: CapabilityCause): CrossingCapability['refusal'] {
  return { rule: `capability_token.${cause}`, reason: CAUSE_MESSAGES[cause] };
}
