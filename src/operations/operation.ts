import type { Static, TSchema } from 'typebox';
import type { Caller } from '../runtime/access/types.ts';
import type { Permission } from '../runtime/config/permissions.ts';
import type { Runtime } from './runtime.ts';

/** Other names of members: `{ input: ['arguments', 'args'] }`. */
export type FieldAliases = Readonly<Record<string, readonly string[]>>;

/** What one call of an operation knows beside its input. */
export interface Context {
  readonly runtime: Runtime;
  readonly caller: Caller;
  /** Names the call in errors and logs. */
  readonly request_id: string;
  /** The tenant that the transport names (`x-service-tenant`); the input's own comes first. */
  readonly tenant_id?: string | null;
  /** The user that the transport names (`x-service-user`); `null` none, left out where it has no place for it. */
  readonly user_id?: string | null;
  /** Gives the sign that nobody waits for the answer any more; without it somebody always does. */
  readonly signal?: () => AbortSignal;
}

/** How an operation is offered as an MCP tool: its name there, and what hosts are told of its effect. */
export interface McpTool {
  readonly tool: string;
  /** Nothing is changed but the audit trail. */
  readonly read_only: boolean;
  /** It lets something happen that cannot be taken back: hosts ask before they call it. */
  readonly destructive?: true;
}

/**
 * A verb of the command line that calls one operation and prints its answer. `--config` and `--json` are added to each.
 * Texts for options come from the descriptions of the input's members.
 */
export interface CliVerb {
  /** The words after the program's name: `agents block`. The first one may be a command that has other verbs. */
  readonly verb: string;
  /** Members of the input that are given without a flag, in this order. */
  readonly arguments?: readonly string[];
  /** Members of the input that have a flag. The flag of `agent_id` is `--agent`. */
  readonly options?: readonly string[];
  /** Prints the rows of a list as a table. */
  readonly columns?: CliColumns;
  /** Formats the answer as one line. Without it and without columns each member of the answer is one line. */
  readonly line?: (output: never) => string;
  /** Command lines for the help, each with its purpose or an empty text. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
}

export interface CliColumns {
  /** The member of the answer that holds the rows. */
  readonly rows: string;
  /** Headings in upper case, each with the member of a row that it shows. */
  readonly cells: Readonly<Record<string, string>>;
  /** The line that is printed if there are no rows. */
  readonly empty: string;
}

/**
 * One thing that can be asked for. This record is the only place where its name, shape and permission
 * stand: the HTTP route, the OpenAPI entry, the CLI verb, the MCP tool and the metric label are made of it.
 */
export interface Operation<Input extends TSchema = TSchema, Output extends TSchema = TSchema> {
  /** snake_case, unique: `scan_input`. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly http: {
    readonly method: 'GET' | 'POST';
    /** Names in braces are taken from the path: `/v1/policies/templates/{template_name}`. */
    readonly path: string;
    /** Whatever stands below the path asks for the same: for programs that add a path of their own. */
    readonly below?: true;
    /** The media type of an answer that is a text and no JSON. */
    readonly produces?: string;
    /** Whether one file may come as `multipart/form-data`. */
    readonly upload?: true;
  };
  /** Left out where it is no MCP tool. */
  readonly mcp?: McpTool;
  /** The verb of the command line, if it calls this operation and does nothing else. Other verbs are in `entry/cli/commands`. */
  readonly cli?: CliVerb;
  /** `null`: open to everyone, credential or not. */
  readonly permission: Permission | null;
  /** It is for users: what the caller may do is what the user may whom it names. See `userOf`. */
  readonly for_users?: true;
  /** It may call a model: it gets `llm`, and the user whose budgets it is charged to. */
  readonly calls_models?: true;
  /**
   * What must be there to run it: the plug-ins or the store (through a service that runs, else loaded or opened), a
   * policy, the journal and its index, or a service that runs.
   */
  readonly needs: 'nothing' | 'plugins' | 'policy' | 'journal' | 'store' | 'live';
  /** Asked before anything else, the caller and the body included: why it cannot be had here at all. */
  readonly unavailable?: (runtime: Runtime) => Refusal | null;
  /** Its verdicts are counted under its name, as the label `endpoint` of `service_requests_total`. */
  readonly counts_checks?: true;
  /**
   * It is a check: a member of the body that is not known is refused. Lists other names that members have; what `run` gets
   * has their own. See `checkBody`.
   */
  readonly check_body?: FieldAliases;
  /** Plain JSON Schema (2020-12) as a constant, so that describing an operation imports no library. */
  readonly input: Input;
  readonly output: Output;
  /** A call that works as it stands; shown in the docs and run by a test. */
  readonly example: Static<Input>;
  /**
   * What the example is answered with; a test compares. Ids, times and hashes differ from call to call. `null`
   * where this version has no answer. Of a long text the first lines.
   */
  readonly answer: Static<Output> | null;
  /** The codes of its own refusals; those that every operation of its kind has are not named again. */
  readonly refusals?: readonly RefusalCode[];
  readonly run: (input: Static<Input>, context: Context) => Promise<Static<Output>> | Static<Output>;
}

// biome-ignore lint/suspicious/noExplicitAny: the list holds operations of unlike shapes; `operation` types each one.
export type AnyOperation = Operation<any, any>;

/** Gives an operation its types from its schemas. */
export function defineOperation<const Input extends TSchema, const Output extends TSchema>(
  record: Operation<Input, Output>,
): Operation<Input, Output> {
  return record;
}

/** Whether its answer is a decision: then a fault of ours has to say `block`. */
export function isDecisionOperation({ permission }: AnyOperation): boolean {
  return permission === 'check' || permission === 'memory:use';
}

/** The stable codes of an expected no. Only `entry/*` knows what they are over a transport. */
export type RefusalCode =
  | 'invalid_request'
  | 'agent_context_required'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'policy_invalid'
  | 'too_large'
  | 'unsupported_media_type'
  | 'too_many_requests'
  /** A budget of the caller is used up. */
  | 'insufficient_quota'
  | 'not_configured'
  | 'unavailable'
  /** The policy blocks it; where a call goes on to somebody else, that is an error for whoever called. */
  | 'policy_violation'
  /** Whoever stands behind the service gave no answer that can be used, or none in time. */
  | 'upstream_failed'
  | 'upstream_timeout';

/** An expected no: a code for programs, a sentence for people. Never holds any part of the input's text. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly details: readonly { path: string; message: string }[];
  /** Further fields of the answer: the decision that is the reason. */
  readonly extra: Readonly<Record<string, unknown>>;
  constructor(
    code: RefusalCode,
    message: string,
    details: readonly { path: string; message: string }[] = [],
    extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.details = details;
    this.extra = extra;
  }
}
