import type { Content, Crossing, Tag } from '../../core/types/index.ts';
import type { Caller } from '../access/types.ts';
import { type CrossingCapability, presentCapability } from './capabilities/present.ts';
import type { Capabilities } from './capabilities/types.ts';

/** The agent, tenant and session of a tool call, tool result or message. */
export interface ActorContext {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly source_agent_id: string | null;
  readonly session_id: string | null;
  readonly declared_tags: readonly Tag[];
  readonly now_ms: number;
  /** The folder to which relative paths of the call refer, if it is known. */
  readonly working_dir?: string;
}

/** A tool call before it runs (`request`), or its result (`response`). */
export interface ToolUse {
  readonly phase: 'request' | 'response';
  readonly tool: string;
  readonly content: Content;
  /** `null`: the tool itself. */
  readonly destination_agent_id: string | null;
  /** The result of the capability token that was presented with the call. */
  readonly capability: CrossingCapability | null;
}

/** Builds the crossing of a tool call or its result, the same for every transport. */
export function buildToolCrossing(acting: ActorContext, use: ToolUse): Crossing {
  const { phase, tool, content, capability } = use;
  return {
    ...acting,
    boundary: 'action',
    ...(capability !== null && { capability }),
    phase,
    content,
    destination_agent_id: use.destination_agent_id ?? tool,
    tool,
  };
}

/** Presents a capability token for a tool call. It counts as used if it allows the call. */
export function presentForCall(
  token: string,
  use: { readonly tool: string; readonly action: string },
  { tenant_id, agent_id, session_id }: ActorContext,
  caller: Caller,
  capabilities: () => Promise<Capabilities>,
): Promise<CrossingCapability> {
  const asked = { token, tool: use.tool, action: use.action, secret_key: null };
  const has_credential = caller.kind !== 'anonymous';
  const who = { tenant_id, agent_id, session_id, caller_id: caller.id, has_credential };
  return presentCapability('use', capabilities, { ...asked, ...who });
}
