import type { Json } from '../../core/types/index.ts';
import type { VerdictReply } from '../../operations/reply.ts';
import type { ApprovalState } from '../../runtime/enforcement/approval.ts';

/** The JSON object that an agent writes to the standard input of a hook. */
export type Payload = Readonly<Record<string, unknown>>;

/** One item to evaluate. */
export type HookCheck =
  | { readonly kind: 'call'; readonly tool: string; readonly input: Json }
  | { readonly kind: 'result'; readonly tool: string; readonly output: Json }
  | {
      readonly kind: 'prompt';
      readonly text: string;
      /** True if the coding agent reports the words that a person typed, and not a file or its own text. */
      readonly is_typed?: true;
    };

/** The decision on one check. It holds none of the matched text. */
export interface HookAnswer
  extends Pick<
    VerdictReply,
    'decision' | 'action' | 'rule' | 'reason' | 'violations' | 'coverage' | 'marks'
  > {
  /** `null` if the event was refused before it was evaluated. */
  readonly event_id: string | null;
  readonly approval: ApprovalState | null;
  /** True if one approver is enough, so that the agent may ask its user. */
  readonly one_approval_suffices: boolean;
  /** The replacement content if the decision is `modify`. */
  readonly changed: Json | null;
}

/** The output and the exit code of the hook. */
export interface HookReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: 0 | 1 | 2;
}

/** An event that waits for a decision. Reasons are whole sentences without matched text. */
export interface HookEvent {
  /** The coding agent opens a session: from then on, its typed prompts are the words of a person. */
  readonly opens_session?: true;
  /** Reads the items to evaluate. @throws UnreadablePayload */
  readonly checks: (payload: Payload) => readonly HookCheck[];
  /** Returns the reply that makes this agent deny this event. */
  readonly deny: (reason: string, payload: Payload) => HookReply;
  /**
   * Returns the reply that replaces the content of the first check. Without it, or with `null`, the event is denied.
   */
  readonly change?: (
    changed: Json,
    reason: string,
    payload: Payload,
    note: string | null,
  ) => HookReply | null;
  /**
   * Returns the reply that lets the event continue and reports to the model that the content is data. Without it the agent
   * has no field for that, and the event continues without a note.
   */
  readonly note?: (note: string, payload: Payload) => HookReply;
  /** Returns the reply that makes the agent ask its user. Without it the event is denied. */
  readonly ask?: (reason: string, payload: Payload) => HookReply;
}

/** The IDs in a payload. */
export interface HookSubject {
  readonly agent_id: string | null;
  readonly session_id: string | null;
  readonly tenant_id: string | null;
  readonly tool_use_id: string | null;
  readonly approval_request_id: string | null;
}

/** The hook protocol of one coding agent: what it sends, and which replies it accepts. */
export interface Dialect {
  readonly name: string;
  /** The agent ID of decisions if neither options nor payload name one. */
  readonly agent_id: string;
  /** Returns whether a payload is from this agent. */
  readonly recognises: (payload: Payload) => boolean;
  /** Returns the name of the event; `null` if it is unknown. `given` is the `--event` of the command line. */
  readonly readEvent: (payload: Payload, given: string | null) => string | null;
  readonly readSubject: (payload: Payload) => HookSubject;
  readonly events: Readonly<Record<string, HookEvent>>;
  /** Events that take no decision. */
  readonly ignored_events: readonly string[];
  /** The reply that lets an event continue. */
  readonly pass: HookReply;
  /** Returns the denial of an event that is not known. */
  readonly refuse: (reason: string) => HookReply;
  /** Writes a whole decision. If there is one, the replies of the event are not used. */
  readonly writeDecision?: (answer: HookAnswer, payload: Payload, nowMs: number) => HookReply;
}
