import type { Principal } from '../core/types/index.ts';
import { coversName } from '../runtime/access/scope.ts';
import type { Caller } from '../runtime/access/types.ts';
import type { ActorContext } from '../runtime/enforcement/crossings.ts';
import { type Context, Refusal } from './operation.ts';
import { type PrincipalContext, resolvePrincipal, type StatedPrincipal } from './principal.ts';
import type { Runtime } from './runtime.ts';

/** Returns the refusal for an event that does not exist, which is also that for an event of others. */
export function buildNoSuchEventRefusal(): Refusal {
  return new Refusal(
    'not_found',
    'There is no such event, or it is not among those that you may read. `customshouse logs` lists events.',
  );
}

/** Members of an input that say whom it concerns. */
export interface SubjectFields {
  readonly agent_id?: string | null | undefined;
  readonly source_agent_id?: string | null | undefined;
  readonly tenant_id?: string | null | undefined;
  readonly session_id?: string | null | undefined;
  readonly user_id?: string | null | undefined;
  readonly context?:
    | (StatedPrincipal & {
        readonly agent_id?: string | null | undefined;
        readonly tenant_id?: string | null | undefined;
        readonly session_id?: string | null | undefined;
      })
    | null
    | undefined;
}

/** The parts of a call's context from which a subject is resolved. */
export type SubjectContext = PrincipalContext & Pick<Context, 'tenant_id'>;

/** The tenant, agents and session of a call, after the credential's scope was checked. */
export interface RequestSubject {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly source_agent_id: string | null;
  /** The person and the chain; absent if neither is known. */
  readonly principal?: Principal;
}

/**
 * Resolves the tenant and the agents: the names in the input, else the only one that the credential allows, else the
 * defaults. A name outside the credential's scope is refused with `forbidden`. So is a missing name if the credential
 * has several, because `unknown` would be an agent outside its scope.
 */
export function resolveSubject(input: SubjectFields, context: SubjectContext): RequestSubject {
  const { caller } = context;
  const source = dropBlankName(input.source_agent_id);
  if (source !== null) requireInScope(caller.agents, source, 'source_agent_id');
  const principal = resolvePrincipal({ ...input.context, user_id: readUserId(input) }, context);
  const last = principal?.chain.at(-1) ?? null;
  const agentId = resolveScopedName(
    caller.agents,
    readName(input, 'agent_id') ?? source ?? last,
    'agent_id',
    'unknown',
  );
  if (last !== null && agentId !== last)
    throw new Refusal('forbidden', '`agent_id` is not the last agent of the chain.');
  return {
    tenant_id: resolveTenant(input, context),
    agent_id: agentId,
    source_agent_id: source,
    ...(principal !== null && { principal }),
  };
}

/**
 * Returns the acting agent; `null` if the call names none.
 * @throws Refusal in gateway mode, where the agent must be known
 */
export function resolveActingAgent(
  { agent_id, source_agent_id }: RequestSubject,
  { mode }: Pick<Runtime, 'mode'>,
): string | null {
  const source = source_agent_id ?? (agent_id === 'unknown' ? null : agent_id);
  if (mode === 'gateway' && source === null) throw buildContextRefusal();
  return source;
}

/** Returns the acting agent of an operation, with the session and the tags that its input declares. */
export function buildActor(
  input: SubjectFields & { readonly data_tags?: readonly string[] },
  subject: RequestSubject,
  runtime: Pick<Runtime, 'mode' | 'now_ms'>,
): ActorContext {
  return {
    tenant_id: subject.tenant_id,
    agent_id: subject.agent_id,
    source_agent_id: resolveActingAgent(subject, runtime),
    session_id: readSessionId(input),
    ...(subject.principal !== undefined && { principal: subject.principal }),
    declared_tags: (input.data_tags ?? []).map((tag) => tag.toLowerCase()),
    now_ms: runtime.now_ms(),
  };
}

/** Builds the refusal for a call that does not name its agents. */
export function buildContextRefusal(): Refusal {
  return new Refusal(
    'agent_context_required',
    'Name the agents: `source_agent_id` (or `agent_id`) says who acts, `destination_agent_id` who is acted upon.',
  );
}

/** Returns the tenant: from the body, its `context`, or the transport, in this order. */
export function resolveTenant(input: SubjectFields, context: SubjectContext): string {
  const request = readName(input, 'tenant_id') ?? dropBlankName(context.tenant_id);
  return resolveScopedName(context.caller.tenants, request, 'tenant_id', 'default');
}

/**
 * Returns the tenant that an input names; empty, for all tenants, if it names none.
 *
 * @throws Refusal unless the caller has access to that tenant, or to all
 */
export function resolveTenantOrAll(
  { tenant_id }: { readonly tenant_id?: string | null | undefined },
  context: Context,
): string {
  if (dropBlankName(tenant_id) !== null) return resolveTenant({ tenant_id }, context);
  requireAllTenants(context);
  return '';
}

/** @throws Refusal unless the caller has access to all tenants */
export function requireAllTenants({ caller }: Context): void {
  if (caller.tenants !== '*')
    throw new Refusal('forbidden', 'This applies to all tenants, and you have access to particular ones.');
}

/** Returns the session that an input names. */
export function readSessionId(input: SubjectFields): string | null {
  return readName(input, 'session_id');
}

/** Returns the person whom an input names. Only a credential proves one. */
export function readUserId(input: SubjectFields): string | null {
  return readName(input, 'user_id');
}

/** Returns a name from the input or its `context`. If both have it, it must be the same. */
function readName(
  input: SubjectFields,
  field: 'agent_id' | 'tenant_id' | 'session_id' | 'user_id',
): string | null {
  const above = dropBlankName(input[field]);
  const within = dropBlankName(input.context?.[field]);
  if (above !== null && within !== null && above !== within) {
    const message = `is another one than \`context.${field}\``;
    throw new Refusal('invalid_request', `\`${field}\` ${message}.`, [{ path: field, message }]);
  }
  return above ?? within;
}

/** Returns the name; `null` if it is blank or absent. */
export function dropBlankName(value: string | null | undefined): string | null {
  if (value === undefined || value === null) return null;
  return value.trim() === '' ? null : value;
}

function resolveScopedName(
  scope: Caller['agents'],
  request: string | null,
  field: string,
  otherwise: string,
): string {
  if (request !== null) return requireInScope(scope, request, field);
  if (scope === '*') return otherwise;
  const [only] = scope;
  if (only === undefined || scope.length > 1) {
    throw new Refusal('forbidden', `The credential is for particular names: say which in \`${field}\`.`);
  }
  return only;
}

function requireInScope(scope: Caller['agents'], request: string, field: string): string {
  if (coversName(scope, request)) return request;
  throw new Refusal('forbidden', `\`${field}\` is outside the scope of the credential.`);
}

/** Returns the named tenant, which the user must have access to; without a name, all tenants of the user. */
export function resolveTenants(input: SubjectFields, context: Context): '*' | readonly string[] {
  const isNamed = dropBlankName(input.tenant_id) !== null || dropBlankName(context.tenant_id) !== null;
  return isNamed ? [resolveTenant(input, context)] : context.caller.tenants;
}
