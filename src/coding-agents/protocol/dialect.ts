import type { Json } from '../../core/types/index.ts';

/** What a host wrote on standard input: one JSON object. */
export type Payload = Readonly<Record<string, unknown>>;

/** One thing that is to be judged. */
export type HookCheck =
  | { readonly kind: 'call'; readonly tool: string; readonly input: Json }
  | { readonly kind: 'result'; readonly tool: string; readonly output: Json }
  | { readonly kind: 'prompt'; readonly text: string };

/** What one check came to, as far as a host may be told of it: nothing that was matched is in it. */
export interface HookAnswer {
  readonly decision: 'allow' | 'block' | 'modify';
  readonly action: string;
  readonly rule: string;
  readonly reason: string;
  /** `null`: it was refused before anything was judged. */
  readonly event_id: string | null;
  readonly violations: readonly object[];
  readonly coverage: 'full' | 'partial';
  readonly approval: {
    readonly request_id: string;
    readonly status: string;
    readonly expires_at: string | null;
  } | null;
  /** Whether one person is enough to agree, so that the host may ask its own. */
  readonly one_may_agree: boolean;
  /** What to use instead, where the decision is `modify`. */
  readonly changed: Json | null;
}

/** What the host reads. */
export interface HookReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: 0 | 1 | 2;
}

/** An event of a host that waits for a decision. Sentences are whole, and hold nothing that was matched. */
export interface HookEvent {
  /** What is judged. @throws Unreadable */
  readonly checks: (payload: Payload) => readonly HookCheck[];
  /** Says no, in the words that really stop this host at this event. */
  readonly deny: (reason: string, payload: Payload) => HookReply;
  /** Gives changed content in place of the first check's; without it, or with `null`, the answer is no. */
  readonly change?: (changed: Json, reason: string, payload: Payload) => HookReply | null;
  /** Has the host ask the person in front of it; without it the answer is no. */
  readonly ask?: (reason: string, payload: Payload) => HookReply;
}

/** Whom an event is about, as the host names them. */
export interface HookSubject {
  readonly agent_id: string | null;
  readonly session_id: string | null;
  readonly tenant_id: string | null;
  readonly tool_use_id: string | null;
  readonly approval_request_id: string | null;
}

/** One coding agent: how it asks, and what it understands as an answer. */
export interface Dialect {
  readonly name: string;
  /** The agent that decisions are about where nobody names another. */
  readonly agent_id: string;
  /** Whether a payload is this host's. */
  readonly recognises: (payload: Payload) => boolean;
  /** The name of the event; `asked` is what the command line says it is. `null`: it cannot be told. */
  readonly eventOf: (payload: Payload, asked: string | null) => string | null;
  readonly subjectOf: (payload: Payload) => HookSubject;
  readonly events: Readonly<Record<string, HookEvent>>;
  /** Events at which there is nothing to decide. */
  readonly ignored_events: readonly string[];
  /** What lets an event go on as if nobody had been asked. */
  readonly pass: HookReply;
  /** No to an event that is not known. */
  readonly refuse: (reason: string) => HookReply;
  /** Tells all of an answer, where the host wants it; the event then has no say. */
  readonly tell?: (answer: HookAnswer, payload: Payload, now_ms: number) => HookReply;
}
