import type { CapabilityPresentation } from '../runtime/enforcement/capability.ts';
import type { Context } from './operation.ts';
import { dropBlankName, resolveSubject } from './subject.ts';

interface TokenPresentation {
  readonly capability_token_id: string;
  readonly capability_action?: string | null;
  readonly agent_id?: string | null;
  readonly session_id?: string | null;
  readonly tenant_id?: string | null;
}

/** Combines a capability token with the action that the caller requests under it. */
export function buildPresentedToken(
  input: TokenPresentation,
  tool: string,
  context: Context,
): CapabilityPresentation {
  const { tenant_id, agent_id } = resolveSubject(
    { agent_id: input.agent_id, tenant_id: input.tenant_id },
    context,
  );
  return {
    token: input.capability_token_id,
    tenant_id,
    agent_id,
    session_id: dropBlankName(input.session_id),
    tool,
    action: dropBlankName(input.capability_action) ?? 'invoke',
    secret_key: null,
    caller_id: context.caller.id,
    has_credential: context.caller.kind !== 'anonymous',
  };
}
