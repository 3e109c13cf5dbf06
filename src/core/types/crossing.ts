import type { Boundary, Json, Phase, Tag } from './enums.ts';
import type { Classification, Finding } from './finding.ts';
import type { Label, ValuesSeen } from './flow.ts';
import type { JsonSource } from './json.ts';
import type { MemorySchema, TotalQuery } from './policy.ts';
import type { Principal } from './principal.ts';

/**
 * Content of a crossing: text or a JSON value. With a `source`, the source text is scanned and changed by splices.
 */
export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly value: Json; readonly source?: JsonSource };

/**
 * One item that crosses one boundary. It is the only value that holds raw text. It holds everything that `judge`
 * needs, because `judge` reads no clock and no store.
 */
export interface Crossing {
  readonly boundary: Boundary;
  /** `null` at `input` and `output`; never `null` at `action`. */
  readonly phase: Phase | null;
  readonly content: Content;
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly source_agent_id: string | null;
  readonly destination_agent_id: string | null;
  /** The person and the agent chain behind the crossing; absent if neither is known. */
  readonly principal?: Principal;
  /** Name of the called tool at `action`. At the other boundaries, the tool that the caller names. */
  readonly tool: string | null;
  /** Tags that the caller declares. They are added to the tags that detectors find. */
  readonly declared_tags: readonly Tag[];
  /** Names of rules whose `require_approval` was approved for exactly this crossing. */
  readonly approved_rules?: readonly string[];
  /** Taint tags of the session; absent means none. */
  readonly session_tags?: readonly Tag[];
  /** The values that the session has seen; absent if they were not read. */
  readonly values_seen?: ValuesSeen;
  /** The label for the whole content, as the seam proves it, such as `user` for a person's words. */
  readonly content_label?: Label;
  /** Calls of this tool by this agent within the last minute, including this one; absent if calls are not counted. */
  readonly calls_last_minute?: number;
  /** The sums and counts that rules read, without this call; absent if none were read. */
  readonly totals?: readonly StoredTotal[];
  /** The same for the proved person, over all agents. */
  readonly calls_last_minute_for_user?: number;
  /** The capability token that was presented; absent if there was none. */
  readonly capability?: {
    /** Public id of the token, not the token itself; `null` if unknown. */
    readonly token_id: string | null;
    /** Reason why the token does not allow this action; `null` if it does. */
    readonly refusal: { readonly rule: string; readonly reason: string } | null;
  };
  /** The task that the call names, once it was checked; absent if it names none. */
  readonly task?: {
    /** `null` if the task is unknown. */
    readonly task_id: string | null;
    /** Reason why the task does not allow this call; `null` if it does. */
    readonly refusal: { readonly rule: string; readonly reason: string } | null;
    /** Arguments whose values the person or the program that created the task has listed. */
    readonly listed_arguments?: readonly string[];
    /**
     * Set if the task lists the results whose values strangers may have written: whether this call's result is one.
     */
    readonly is_source?: boolean;
  };
  /** Set if the content is written to an agent's memory (phase `request`) or read from it (phase `response`). */
  readonly memory?: MemoryUse;
  readonly identity_places?: readonly Pick<Finding, 'leaf' | 'start' | 'end'>[];
  /** `true` if the sender cannot accept changed content. The content is passed on unchanged or blocked. */
  readonly is_unchangeable?: boolean;
  /** The answers of classifiers on the content; absent if none was called. */
  readonly classification?: Classification;
  /** `true` for a file, whose instructions are not those of the user. The result of a tool needs no such flag. */
  readonly is_from_outside?: true;
  /** Base folder of the agent's relative paths, if the caller provides it. */
  readonly working_dir?: string;
  /** Milliseconds since 1970, UTC. */
  readonly now_ms: number;
}

/** A sum or a count over earlier calls. */
export interface StoredTotal {
  readonly query: TotalQuery;
  /** An exact decimal number; `null` if an earlier call has a value that is no number. */
  readonly value: string | null;
  /** True if this call is among those that are added. */
  readonly includes_call: boolean;
}

/** A crossing without its content. */
export type CrossingContext = Omit<Crossing, 'content'>;

/**
 * The entry of an agent's memory that a crossing reads or writes. The names come from the policy and never from a
 * caller's text.
 */
export interface MemoryUse {
  readonly operation: 'write' | 'read' | 'resolve';
  /** Names of the memory schema and its field; `null` if unknown. */
  readonly schema: string | null;
  readonly key: string | null;
  readonly scope: MemorySchema['scope'] | null;
  /** Id of the entry: `hdl_` and 32 hex digits. */
  readonly handle_id: string | null;
  /** Tag of the field if its value crosses. The schema allows the tag unless a rule names it. */
  readonly tag: Tag | null;
}

/** The tool call that the scanned arguments belong to. */
export interface ToolCall {
  readonly tool: string | null;
  readonly working_dir?: string | undefined;
}
