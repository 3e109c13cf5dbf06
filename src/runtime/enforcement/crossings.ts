import type { Content, Crossing, CrossingContext, Principal, Tag } from '../../core/types/index.ts';
import type { Caller } from '../access/types.ts';
import type { CrossingCapability, PresentCapability } from './capability.ts';

/** The agent, tenant and session on whose behalf something crosses a boundary. */
export interface ActorContext {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly source_agent_id: string | null;
  readonly session_id: string | null;
  /** The person for whom the agent acts, and the agents in between; absent if neither is known. */
  readonly principal?: Principal;
  readonly declared_tags: readonly Tag[];
  readonly now_ms: number;
  /** The folder to which relative paths of a call refer, if it is known. */
  readonly working_dir?: string;
}

/** The receiver of a text, and the tool that it concerns; absent means none. */
export interface TextTarget {
  readonly destination_agent_id?: string | null;
  readonly tool?: string | null;
}

/** A tool call before it runs (`request`), or its result (`response`). */
export interface ToolUse {
  readonly phase: 'request' | 'response';
  readonly tool: string;
  readonly content: Content;
  /** Absent or `null`: the tool itself. */
  readonly destination_agent_id?: string | null;
  /** The result of the capability token that was presented with the call. */
  readonly capability?: CrossingCapability | null;
}

/** The tool name by which rules match messages between agents. */
const AGENT_MESSAGE = 'agent_to_agent';

/** The content of a crossing whose text is not known. */
export const NO_TEXT: Content = { kind: 'text', text: '' };

/** Returns the actor of crossings that belong to no request. */
export function buildUnknownActor(nowMs: number): ActorContext {
  return {
    tenant_id: 'default',
    agent_id: 'unknown',
    source_agent_id: null,
    session_id: null,
    declared_tags: [],
    now_ms: nowMs,
  };
}

/** Builds the crossing of a text that enters (`input`) or leaves (`output`) an agent. */
export function buildTextCrossing(
  boundary: 'input' | 'output',
  acting: ActorContext,
  content: Content,
  target: TextTarget = {},
): Crossing {
  return { ...buildTextContext(boundary, acting, target), content };
}

/** Builds the crossing of a text whose content follows in parts. */
export function buildTextContext(
  boundary: 'input' | 'output',
  acting: ActorContext,
  { destination_agent_id = null, tool = null }: TextTarget = {},
): CrossingContext {
  return { ...acting, boundary, phase: null, destination_agent_id, tool };
}

/** Builds the crossing of a tool call or its result. */
export function buildToolCrossing(acting: ActorContext, use: ToolUse): Crossing {
  const { phase, tool, content, capability = null } = use;
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

/** Builds the crossing of a message from one agent to another. */
export function buildMessageCrossing(
  acting: ActorContext,
  content: Content,
  destinationAgentId: string,
): Crossing {
  return {
    ...acting,
    boundary: 'action',
    phase: 'message',
    content,
    destination_agent_id: destinationAgentId,
    tool: AGENT_MESSAGE,
  };
}

/** Presents a capability token for a tool call. It counts as used if it allows the call. */
export function presentForCall(
  token: string,
  use: { readonly tool: string; readonly action: string },
  { tenant_id, agent_id, session_id }: ActorContext,
  caller: Caller,
  presentCapability: PresentCapability,
): Promise<CrossingCapability> {
  const requested = { token, tool: use.tool, action: use.action, secret_key: null };
  const hasCredential = caller.kind !== 'anonymous';
  const who = { tenant_id, agent_id, session_id, caller_id: caller.id, has_credential: hasCredential };
  return presentCapability('use', { ...requested, ...who });
}
