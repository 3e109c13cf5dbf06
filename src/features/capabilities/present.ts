import { StoreFailure } from '../../platform/store/failure.ts';
import type { CrossingCapability, PresentCapability } from '../../runtime/enforcement/capability.ts';
import { CAUSE_MESSAGES } from './misfit.ts';
import type { Capabilities, CapabilityCause } from './types.ts';

/** Returns the port over these tokens. */
export function buildPresentCapability(capabilities: () => Promise<Capabilities>): PresentCapability {
  return async (how, presented) => {
    try {
      const shown = await (await capabilities())[how](presented);
      return { token_id: shown.token_id, refusal: shown.taken ? null : getRefusal(shown.cause) };
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
      const reason = 'The capability token could not be checked, because the store is not available.';
      return { token_id: null, refusal: { rule: 'fault.store', reason } };
    }
  };
}

function getRefusal(cause: CapabilityCause): CrossingCapability['refusal'] {
  return { rule: `capability_token.${cause}`, reason: CAUSE_MESSAGES[cause] };
}
