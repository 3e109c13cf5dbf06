import type { FastifyRequest } from 'fastify';
import type { WireError } from '../../core/wire/wire-format.ts';
import type { CallDenial } from '../../gateways/llm/llm-call.ts';
import type { Refusal } from '../../operations/operation.ts';
import { buildVerdictReply } from '../../operations/reply.ts';
import { FAULT, STATUS } from '../web/errors.ts';

/** An expected no of ours, for the provider's shape of an error. */
export function formatRefusal({ code, message }: Refusal, request_id: string): WireError {
  return { status: STATUS[code], code, message, request_id, extra: {} };
}

/** A fault of ours: it says nothing of what happened, and it blocks. */
export function formatFault(request: Pick<FastifyRequest, 'id'>): WireError {
  return {
    status: 500,
    code: 'internal_error',
    message: FAULT,
    request_id: request.id,
    extra: { decision: 'block' },
  };
}

/** Why the policy lets something not go on: what every check answers with stands beside the provider's own fields. */
export function formatDenial({ ruling, crossing }: CallDenial, request_id: string): WireError {
  const { verdict } = ruling;
  const { reason, scan_duration_ms: _, ...beside } = buildVerdictReply(ruling, crossing, false);
  const message = verdict.fallback_used && verdict.content?.kind === 'text' ? verdict.content.text : reason;
  // Coding agents take a 403 for a login that failed: they hide the reason, and try again.
  const [status, code] = verdict.fault ? [500, 'internal_error'] : [400, 'policy_violation'];
  return { status, code, message, request_id, extra: { ...beside, reason } };
}
