import type { FastifyRequest } from 'fastify';
import type { WireError } from '../../core/wire/wire-format.ts';
import type { Refusal } from '../../operations/operation.ts';
import { buildVerdictReply } from '../../operations/reply.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import { FAULT, STATUS } from '../web/errors.ts';

/** Formats a refusal as an error of the provider's API. */
export function formatRefusal({ code, message }: Refusal, requestId: string): WireError {
  return { status: STATUS[code], code, message, request_id: requestId, extra: {} };
}

/** Formats an internal error. It blocks, and reveals nothing of the cause. */
export function formatFault(request: Pick<FastifyRequest, 'id'>): WireError {
  return {
    status: 500,
    code: 'internal_error',
    message: FAULT,
    request_id: request.id,
    extra: { decision: 'block' },
  };
}

/** Formats a denial by the policy: the members of every check are next to the provider's own fields. */
export function formatDenial(denial: Ruling, requestId: string): WireError {
  const { verdict } = denial;
  const { reason, scan_duration_ms: _, ...members } = buildVerdictReply(denial);
  const message = verdict.fallback_used && verdict.content?.kind === 'text' ? verdict.content.text : reason;
  // Coding agents treat a 403 as a failed login: they hide the reason and try again.
  const [status, code] = verdict.fault ? [500, 'internal_error'] : [400, 'policy_violation'];
  return { status, code, message, request_id: requestId, extra: { ...members, reason } };
}
