import type { Json } from '../../core/types/index.ts';

/**
 * Part of an answer or of what is judged, with places to fill in: `{/tool/name}` is what stands there in the payload, `{payload}`
 * all of it, and in answers `{reason}` is why, `{changed}` what to use instead. A text that is one place and nothing else
 * becomes the value itself.
 */
export type AdapterTemplate = Json;

/** What of a payload is judged, and as what. */
export interface CheckSpec {
  /** A tool call, a tool result, something that goes into an agent, or something that comes out of it. */
  readonly kind: 'call' | 'result' | 'prompt' | 'answer';
  /** Where a list stands: each item is judged by itself, and places count from it. */
  readonly each?: string;
  /** The name of the tool, of a call or a result. */
  readonly tool?: string;
  readonly content: AdapterTemplate;
  /** The content is a text that holds JSON. */
  readonly json?: boolean;
  /** It need not be there. */
  readonly optional?: boolean;
}

/** An event, and the answers to it. `Reply` is a template in the form that a way of asking takes. */
export interface EventSpec<Reply> {
  readonly checks: readonly CheckSpec[];
  /** Says no, in a way that really stops whoever asks. */
  readonly deny: Reply;
  /** Gives changed content in place of the first check's; without it the answer is no. */
  readonly change?: Reply;
  /** Has whoever asks put the question to a person; without it the answer is no. */
  readonly ask?: Reply;
}

/** A payload, and what must be read in it: tried whenever the plug-in is loaded. */
export interface ExampleSpec {
  readonly payload: Readonly<Record<string, Json>>;
  /** The name of the event, where the payload does not tell. */
  readonly event?: string;
  /** Nothing for an event at which there is nothing to decide. */
  readonly checks: readonly FoundCheck[];
}

/** How others ask and what they understand as an answer, as plain data. */
export interface AdapterProtocol<Reply> {
  readonly name: string;
  readonly description?: string;
  /** The agent that decisions are about where nobody names another; without it the name. */
  readonly agent_id?: string;
  /** Where the name of the event stands; without it there is one, or whoever asks says which. */
  readonly event?: string;
  readonly subject?: Readonly<Partial<Record<SubjectKey, string>>>;
  readonly events: Readonly<Record<string, EventSpec<Reply>>>;
  /** Events at which there is nothing to decide. */
  readonly ignored_events?: readonly string[];
  readonly examples: readonly ExampleSpec[];
}

export const SUBJECT_KEYS = ['agent_id', 'session_id', 'tenant_id', 'tool_use_id'] as const;
export type SubjectKey = (typeof SUBJECT_KEYS)[number];

/** What a coding agent reads: texts as they are, all else as JSON. */
export interface DialectReply {
  readonly stdout?: AdapterTemplate;
  readonly stderr?: string;
  readonly code?: 0 | 1 | 2;
}

/** How a coding agent asks a hook. */
export interface DialectSpec extends AdapterProtocol<DialectReply> {
  /** What lets an event go on as if nobody had been asked; without it nothing at all. */
  readonly pass?: DialectReply;
}

/** How a gateway or a framework asks over HTTP; answers are bodies. */
export interface AdapterSpec extends AdapterProtocol<AdapterTemplate> {
  readonly pass: AdapterTemplate;
}

/** What was read in a payload: one thing to judge. */
export interface FoundCheck {
  readonly kind: CheckSpec['kind'];
  /** Of a call or a result. */
  readonly tool?: string;
  readonly content: Json;
}
