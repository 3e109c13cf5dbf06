import type { HookCheck } from '../../coding-agents/record/dialect.ts';
import type { Runtime } from '../../operations/runtime.ts';

/** What a hook asks of whoever decides: this process, a resident one, or a service. Plain JSON. */
export interface HookQuestion {
  /** Which host asks, at which event. */
  readonly dialect: string;
  readonly event: string;
  readonly agent_id: string;
  readonly tenant_id: string;
  readonly session_id: string | null;
  readonly tool_use_id: string | null;
  readonly approval_request_id: string | null;
  /** The folder in which relative paths begin, where the host names it. */
  readonly working_dir?: string;
  /** Whether the host takes no changed prompt. */
  readonly has_fixed_prompt?: boolean;
  readonly checks: readonly HookCheck[];
}

/** What deciding takes. */
export type HookRuntime = Pick<Runtime, 'enforce' | 'note' | 'now_ms' | 'policy'>;
