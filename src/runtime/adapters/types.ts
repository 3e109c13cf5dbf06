import type { Json } from '../../core/types/index.ts';

/**
 * Part of a reply or of checked content, with places to fill in. `{/tool/name}` is the value at that pointer in
 * the payload, and `{payload}` is the whole payload. In replies, `{reason}` is the reason, and `{changed}` is
 * the replacement content. A text that consists of one place becomes the value itself.
 */
export type AdapterTemplate = Json;

/** Selects the part of a payload to check, and its kind. */
export interface CheckSpec {
  /** A tool call, a tool result, the input of an agent, or its output. */
  readonly kind: 'call' | 'result' | 'prompt' | 'answer';
  /** The place of a list. Each item is checked on its own, and its places are relative to the item. */
  readonly each?: string;
  /** The tool name of a call or a result. */
  readonly tool?: string;
  readonly content: AdapterTemplate;
  /** The content is a text that contains JSON. */
  readonly json?: boolean;
  /** The content can be missing. */
  readonly optional?: boolean;
}

/** An event and its replies. `Reply` is a template in the form of the protocol. */
export interface EventSpec<Reply> {
  readonly checks: readonly CheckSpec[];
  /** Denies the event. It must really stop the caller. */
  readonly deny: Reply;
  /** Replaces the content of the first check. Without it, the reply is `deny`. */
  readonly change?: Reply;
  /** Makes the caller ask its user. Without it, the reply is `deny`. */
  readonly ask?: Reply;
}

/** A payload and the checks that must be read from it. Tested each time the plug-in is loaded. */
export interface ExampleSpec {
  readonly payload: Readonly<Record<string, Json>>;
  /** The event name, if the payload does not contain it. */
  readonly event?: string;
  /** Empty for an ignored event. */
  readonly checks: readonly FoundCheck[];
}

/** The format of the requests and replies of an external caller, as plain data. */
export interface AdapterProtocol<Reply> {
  readonly name: string;
  readonly description?: string;
  /** The agent id of a payload without one. Default: `name`. */
  readonly agent_id?: string;
  /** The place of the event name. Without it, there is only one event, or the caller names it. */
  readonly event?: string;
  readonly subject?: Readonly<Partial<Record<SubjectKey, string>>>;
  readonly events: Readonly<Record<string, EventSpec<Reply>>>;
  /** Events without a decision. */
  readonly ignored_events?: readonly string[];
  readonly examples: readonly ExampleSpec[];
}

export const SUBJECT_KEYS = ['agent_id', 'session_id', 'tenant_id', 'tool_use_id'] as const;
export type SubjectKey = (typeof SUBJECT_KEYS)[number];

/** The reply to a coding agent. Strings are written as they are, other values as JSON. */
export interface DialectReply {
  readonly stdout?: AdapterTemplate;
  readonly stderr?: string;
  readonly code?: 0 | 1 | 2;
}

/** The protocol in which a coding agent calls a hook. */
export interface DialectSpec extends AdapterProtocol<DialectReply> {
  /** The reply that lets an event proceed as if there were no hook. Default: no output. */
  readonly pass?: DialectReply;
}

/** The protocol in which a gateway or a framework calls over HTTP. Replies are bodies. */
export interface AdapterSpec extends AdapterProtocol<AdapterTemplate> {
  readonly pass: AdapterTemplate;
}

/** One check that was read from a payload. */
export interface FoundCheck {
  readonly kind: CheckSpec['kind'];
  /** Set for a tool call or a tool result. */
  readonly tool?: string;
  readonly content: Json;
}
