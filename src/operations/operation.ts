import type { Static, TSchema } from 'typebox';
import type { Caller } from '../runtime/access/types.ts';
import { OPERATOR_PERMISSIONS, type Permission, SERVICE_PERMISSIONS } from '../runtime/config/permissions.ts';
import type { Runtime } from './runtime.ts';

/** Aliases of members: `{ input: ['arguments', 'args'] }`. */
export type FieldAliases = Readonly<Record<string, readonly string[]>>;

/** Data of one call of an operation, in addition to its input. */
export interface Context {
  readonly runtime: Runtime;
  readonly caller: Caller;
  /** Identifies the call in errors and logs. */
  readonly request_id: string;
  /** The tenant that the transport names (`x-service-tenant`); one in the input takes precedence. */
  readonly tenant_id?: string | null;
  /**
   * The user that the transport names (`x-service-user`); `null` if there is none, absent if the transport has no place
   * for it.
   */
  readonly user_id?: string | null;
  /** The task that the transport names (`x-service-task`); absent if it names none. */
  readonly task_id?: string;
  /** The trace that the transport names (`traceparent`); absent if it names none. */
  readonly trace_id?: string;
  /** The browser that calls an operation with `browser`; absent for other transports. */
  readonly browser?: BrowserContext;
  /** Returns the signal that the client has disconnected; absent if the transport cannot detect that. */
  readonly signal?: () => AbortSignal;
}

/** The browser of a call: the cookie of its session, and the means to set it. */
export interface BrowserContext {
  /** The client's IP address; `null` if it is unknown. */
  readonly address: string | null;
  readonly user_agent: string | null;
  /** The session that the browser has already; it ends with a new sign-in. */
  readonly session_token: string | null;
  /** The cookie of an earlier sign-in; `null` if there is none. It proves no identity. */
  readonly device_token: string | null;
  /** The origin of our own pages, as the browser names it. */
  readonly origin: string;
  /** Sets the cookie of the session; `null` removes it. */
  readonly setSession: (sessionToken: string | null) => void;
  /** Sets the cookie by which the browser is known at the next sign-in. */
  readonly setDevice: (deviceToken: string) => void;
  /** The one-time value that ties an answer of the OpenID provider to this browser; `null` if there is none. */
  readonly oidc_state: string | null;
  readonly setOidcState: (value: string | null) => void;
}

/** The MCP tool of an operation: its name, and the annotations on its effect. */
export interface McpTool {
  readonly tool: string;
  /** `true` if the tool changes nothing except the audit log. */
  readonly read_only: boolean;
  /** The effect cannot be undone: MCP clients ask for confirmation before they call it. */
  readonly destructive?: true;
}

/**
 * A command that calls one operation and prints its answer. Each has `--config` and `--json` as well. The help texts of
 * options come from the descriptions of the input's members.
 */
export interface CliVerb<Output> {
  /** The words after the program's name: `agents block`. The first one may be a command that has other subcommands. */
  readonly verb: string;
  /** Members of the input that are positional arguments, in this order. */
  readonly arguments?: readonly string[];
  /** Members of the input that have a flag. The flag of `agent_id` is `--agent`. */
  readonly options?: readonly string[];
  /** Prints the rows of a list as a table. */
  readonly columns?: CliColumns;
  /**
   * Formats the answer as a line, or as several. Without it and without `columns`, each member of the answer is printed on its own
   * line.
   */
  readonly line?: (output: Output) => string | readonly string[];
  /** Returns lines about the answer that go to standard error, so that scripts read the answer alone. */
  readonly notices?: (output: Output) => readonly string[];
  /** Command lines for the help, each with its purpose or an empty text. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
}

export interface CliColumns {
  /** The member of the answer that contains the rows. */
  readonly rows: string;
  /** Headings in upper case, each with the member of a row that it shows. */
  readonly cells: Readonly<Record<string, string>>;
  /** The line that is printed if there are no rows. */
  readonly empty: string;
}

/**
 * One operation of the service. Its name, shape and permission are defined only here: the HTTP route, the OpenAPI
 * entry, the CLI command, the MCP tool and the metric label are derived from this record.
 */
export interface Operation<Input extends TSchema = TSchema, Output extends TSchema = TSchema> {
  /** Unique, in snake_case: `scan_input`. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly http: {
    readonly method: 'GET' | 'POST' | 'PUT';
    /** Path parameters are in braces: `/v1/policies/templates/{template_name}`. */
    readonly path: string;
    /** Every path below this one calls the same operation, for programs that append a path of their own. */
    readonly below?: true;
    /** The media type of an answer that is text and not JSON. */
    readonly produces?: string;
    /** Accepts one file as `multipart/form-data`. */
    readonly upload?: true;
    /** Answers 303 to the member `location` of the answer. */
    readonly redirects?: true;
  };
  /** Absent if the operation is not an MCP tool. */
  readonly mcp?: McpTool;
  /** The command that calls this operation and does nothing else. Other commands are in `entry/cli/commands`. */
  readonly cli?: CliVerb<Static<Output>>;
  /** `null`: open to all callers, with or without a credential. */
  readonly permission: Permission | null;
  /** For an operation that is open to all: it shows more to a caller who is known. No other caller is refused. */
  readonly identifies_caller?: true;
  /** `person`: refused to every credential of a program, whatever its permissions. */
  readonly caller?: 'person';
  /**
   * `all`: concerns all tenants at once, so that a caller with access to particular ones is refused. `all_unless`: an
   * input that names this member concerns one tenant, and any other input all of them.
   */
  readonly tenants?: 'all' | { readonly all_unless: keyof Static<Input> & string };
  /**
   * An operation for users: the permissions of the user whom the caller names apply. `if_named`: a caller who names none
   * is judged by the credential.
   */
  readonly for_users?: true | 'if_named';
  /** Reads or sets the cookies of a sign-in, so that only a browser on one of our own pages may call it. */
  readonly browser?: true;
  /** The operation may call a model: it gets `llm`, and the user whose budgets are charged. */
  readonly calls_models?: true;
  /**
   * The resources that the operation needs: plug-ins, the store, a policy, the journal with its index, the owner of the
   * state folder, or a running service. Plug-ins and the store are used through a running service if there is one,
   * otherwise loaded or opened. The command line owns the folder during the call if no service does.
   */
  readonly needs: 'nothing' | 'plugins' | 'policy' | 'journal' | 'store' | 'owner' | 'live';
  /** Returns why this runtime cannot offer the operation at all. Called before the caller and the body are checked. */
  readonly unavailable?: (runtime: Runtime) => Refusal | null;
  /** Counts its verdicts under its name, as the label `endpoint` of `service_requests_total`. */
  readonly counts_checks?: true;
  /**
   * Marks a check: unknown members of the body are refused. The record lists the aliases of members; `run` gets the
   * members under their own names. See `checkBody`.
   */
  readonly check_body?: FieldAliases;
  /** Plain JSON Schema (2020-12) as a constant, so that describing an operation imports no library. */
  readonly input: Input;
  readonly output: Output;
  /** A call that works without changes. The docs show it and a test runs it. */
  readonly example: Static<Input>;
  /**
   * The answer to the example; a test compares it. IDs, times and hashes differ from call to call. `null` if this
   * version has no answer. A long text is cut to its first lines.
   */
  readonly answer: Static<Output> | null;
  /** The codes of its own refusals, without those that every operation of its kind has. */
  readonly refusals?: readonly RefusalCode[];
  readonly run: (input: Static<Input>, context: Context) => Promise<Static<Output>> | Static<Output>;
}

// biome-ignore lint/suspicious/noExplicitAny: the list holds operations of unlike shapes; `operation` types each one.
export type AnyOperation = Operation<any, any>;

/** Runs an operation for one caller, over any transport. */
export type RunOperation = <Input extends TSchema, Output extends TSchema>(
  operation: Operation<Input, Output>,
  input: Static<Input>,
) => Promise<Static<Output>>;

/** Types an operation from its schemas. */
export function defineOperation<const Input extends TSchema, const Output extends TSchema>(
  record: Operation<Input, Output>,
): Operation<Input, Output> {
  return record;
}

/** Returns who may call an operation besides having its permission, as one sentence; empty if nothing more is needed. */
export function describeCaller({ permission, caller, tenants }: AnyOperation): string {
  const isOperators =
    caller === 'person' ||
    (permission !== null && permission !== 'account:own' && OPERATOR_PERMISSIONS.includes(permission));
  const isForAll = tenants === 'all' || (permission !== null && SERVICE_PERMISSIONS.includes(permission));
  const unless = typeof tenants === 'object' ? ` unless \`${tenants.all_unless}\` is given` : '';
  const scope = isForAll || unless !== '' ? `access to all tenants${unless}` : '';
  if (!isOperators) return scope === '' ? '' : `Requires ${scope}.`;
  return `Requires an operator${scope === '' ? '' : ` with ${scope}`}.`;
}

/** Returns the description of an operation with the sentence on its callers. */
export function getFullDescription(operation: AnyOperation): string {
  return `${operation.description} ${describeCaller(operation)}`.trim();
}

/**
 * Returns whether the operation answers with a decision. On an internal error such an operation must answer `block`.
 */
export function isDecisionOperation({ permission }: AnyOperation): boolean {
  return permission === 'check' || permission === 'memory:use';
}

/** The stable codes of expected errors. */
export type RefusalCode =
  | 'invalid_request'
  | 'agent_context_required'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  /** The policy would be less strict, and the caller did not confirm it. */
  | 'weaker_policy'
  | 'policy_invalid'
  | 'too_large'
  | 'unsupported_media_type'
  | 'too_many_requests'
  /** A budget of the caller is exhausted. */
  | 'budget_exceeded'
  | 'not_configured'
  | 'unavailable'
  /** The policy blocks the call. Used where a call is forwarded, because there a block is an error for the caller. */
  | 'policy_violation'
  /** The upstream gave no usable answer. */
  | 'upstream_failed'
  | 'upstream_timeout';

/** The HTTP status of each code. */
export const REFUSAL_STATUS: Readonly<Record<RefusalCode, number>> = {
  invalid_request: 400,
  agent_context_required: 400,
  budget_exceeded: 400,
  unauthenticated: 401,
  forbidden: 403,
  policy_violation: 403,
  not_found: 404,
  conflict: 409,
  weaker_policy: 409,
  policy_invalid: 409,
  too_large: 413,
  unsupported_media_type: 415,
  too_many_requests: 429,
  upstream_failed: 502,
  not_configured: 503,
  unavailable: 503,
  upstream_timeout: 504,
};

/** An expected error: a code for programs and a message for people. Never contains any part of the input's text. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly details: readonly { path: string; message: string }[];
  /** Further members of the answer, such as the decision that caused the refusal. */
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
