import type { Crossing } from '../../core/types/index.ts';
import {
  type BlockReason,
  decideCrossing,
  type PendingRuling,
  refuseCrossing,
} from '../../runtime/enforcement/enforce.ts';
import type { EnforcementExtras, Ruling } from '../../runtime/enforcement/types.ts';
import type { Endpoint } from '../../runtime/observability/endpoint.ts';
import { buildCallMetadata, type LlmCallContext } from './llm-call.ts';

/**
 * Decides on a crossing of a model call. An approval of exactly this crossing counts even if the client names no
 * request. `model` is the requested model if events may contain it.
 */
export function decideInCall(
  crossing: Crossing,
  endpoint: Endpoint,
  { call, ports }: LlmCallContext,
  model: string | null,
  extras: EnforcementExtras = {},
): Promise<PendingRuling> {
  return decideCrossing(crossing, call.caller, endpoint, ports, call.approval_request_id, {
    buildMetadata: () => buildCallMetadata(call, model),
    reuse_approval: true,
    ...extras,
  });
}

/** Blocks a tool call without judging it. The caller leaves the content out of the crossing. */
export function refuseInCall(
  reason: BlockReason,
  crossing: Crossing,
  { call, ports }: LlmCallContext,
  model: string | null,
): Promise<Ruling> {
  return refuseCrossing(reason, crossing, call.caller, 'llm_tool_call', ports, {
    buildMetadata: () => buildCallMetadata(call, model),
  });
}
