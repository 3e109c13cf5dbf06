import type { HookCheck } from '../../coding-agents/record/dialect.ts';
import type { Runtime } from '../../operations/runtime.ts';

/** The request of a hook for a decision, as plain JSON. This process, a daemon or a service decides it. */
export interface HookRequest {
  /** The coding agent and its event. */
  readonly dialect: string;
  readonly event: string;
  /** The version of the hook program. */
  readonly hook_version?: string;
  readonly agent_id: string;
  readonly tenant_id: string;
  /** True if neither the command nor the event names the agent, or the tenant: a credential may then name it. */
  readonly has_default_agent?: true;
  readonly has_default_tenant?: true;
  readonly session_id: string | null;
  readonly tool_use_id: string | null;
  readonly approval_request_id: string | null;
  /** The task and the trace that the agent's environment names. */
  readonly task_id?: string;
  readonly trace_id?: string;
  /** The folder to which paths are relative, if the agent names it. */
  readonly working_dir?: string;
  /** True if the agent does not accept a changed prompt. */
  readonly has_fixed_prompt?: boolean;
  /** The coding agent opens the session. There is nothing to evaluate then. */
  readonly opens_session?: true;
  readonly checks: readonly HookCheck[];
}

/** The parts of a runtime that a decision needs. */
export type HookRuntime = Pick<Runtime, 'enforce' | 'note' | 'now_ms' | 'openSession' | 'policy'>;
