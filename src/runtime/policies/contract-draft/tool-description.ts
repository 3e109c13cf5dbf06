import type { JsonObject, Label } from '../../../core/types/index.ts';

/** The number of tools in one draft, at most. */
export const TOOLS_MAX = 1_000;
/** UTF-16 units of a tool's name, as in contracts. */
export const NAME_UNITS_MAX = 256;
/** A description's beginning, which is kept, and the part of it that is read for words. */
export const DESCRIPTION_UNITS_MAX = 2_000;
export const WORDS_UNITS_MAX = 300;

/** A tool as a server, a document or recorded calls describe it. Nothing in it is trusted. */
export interface ToolDescription {
  /** As the server names it: its words say what the tool does. */
  readonly name: string;
  /** As calls name it, which the contract is for: `github__create_issue`. */
  readonly tool_name: string;
  /** Read for words, never written. */
  readonly description: string;
  readonly input_schema: JsonObject | null;
  readonly output_schema: JsonObject | null;
  readonly hints: ToolHints;
  /** Names the trusted label if the words name no known kind. */
  readonly server: string | null;
  readonly observed?: ObservedCalls;
}

/** Returns the description of a tool of which only the name is known. */
export function buildNamedTool(name: string): ToolDescription {
  return {
    name,
    tool_name: name,
    description: '',
    input_schema: null,
    output_schema: null,
    hints: {},
    server: null,
  };
}

/** Statements of a server about its tool. Each can make the draft stricter and none can make it looser. */
export interface ToolHints {
  readonly writes?: true;
  readonly destroys?: true;
  readonly is_open_world?: true;
  /** The HTTP method is safe. Counts only if the name has no known verb. */
  readonly is_safe_method?: true;
}

/** The recorded calls of a tool. */
export interface ObservedCalls {
  readonly agents: readonly string[];
  readonly calls_per_minute: number;
  readonly argument_tags: readonly string[];
  readonly argument_names: readonly string[];
  readonly result_tags: readonly string[];
  readonly has_egress: boolean;
  /** Labels of past values by argument. */
  readonly origins: Readonly<Record<string, readonly Label[]>>;
}

/** A part of a contract with the reason for it. */
export interface DraftReason {
  /** Members that lead to the part: `['flow', 'arguments', 'recipient']`. */
  readonly place: readonly string[];
  /** A fixed sentence: no text of a tool is in it. */
  readonly reason: string;
}

/** A proposed contract, as one entry of `contracts` in a document. */
export interface DraftedContract {
  readonly contract: JsonObject;
  readonly reasons: readonly DraftReason[];
}
