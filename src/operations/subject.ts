import type { Caller } from '../runtime/access/types.ts';
import { type Context, Refusal } from './operation.ts';
import type { Runtime } from './runtime.ts';

/** What an input may say of whom it concerns. */
export interface SubjectFields {
  readonly agent_id?: string | null | undefined;
  readonly source_agent_id?: string | null | undefined;
  readonly tenant_id?: string | null | undefined;
  readonly session_id?: string | null | undefined;
  readonly context?:
    | {
        readonly agent_id?: string | null | undefined;
        readonly tenant_id?: string | null | undefined;
        readonly session_id?: string | null | undefined;
      }
    | null
    | undefined;
}

/** Whom a call concerns, after the credential's scope had its say. */
export interface RequestSubject {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly source_agent_id: string | null;
}

/**
 * Settles tenant and agents: what the input names, else what the credential leaves no choice about, else the
 * defaults. A name outside the credential's scope is refused with `forbidden`; so is leaving the name out where
 * the credential has several, for `unknown` would be an agent out of its scope.
 */
export function resolveSubject(input: SubjectFields, context: Context): RequestSubject {
  const { caller } = context;
  const source = readName(input.source_agent_id);
  if (source !== null) within(caller.agents, source, 'source_agent_id');
  const agent_id = scoped(caller.agents, namedIn(input, 'agent_id') ?? source, 'agent_id', 'unknown');
  return { tenant_id: resolveTenant(input, context), agent_id, source_agent_id: source };
}

/**
 * Who acts; `null` where nobody says so.
 * @throws Refusal in gateway mode, where it must be known
 */
export function resolveActingAgent(
  { agent_id, source_agent_id }: RequestSubject,
  { mode }: Pick<Runtime, 'mode'>,
): string | null {
  const source = source_agent_id ?? (agent_id === 'unknown' ? null : agent_id);
  if (mode === 'gateway' && source === null) throw buildContextRefusal();
  return source;
}

/** That a call does not say which agents it is about. */
export function buildContextRefusal(): Refusal {
  return new Refusal(
    'agent_context_required',
    'Name the agents: `source_agent_id` (or `agent_id`) says who acts, `destination_agent_id` who is acted upon.',
  );
}

/** The tenant: from the body, its `context`, the transport, in this order. */
export function resolveTenant(input: SubjectFields, context: Context): string {
  const asked = namedIn(input, 'tenant_id') ?? readName(context.tenant_id);
  return scoped(context.caller.tenants, asked, 'tenant_id', 'default');
}

/** The session that an input names. */
export function readSessionId(input: SubjectFields): string | null {
  return namedIn(input, 'session_id');
}

/** A name may be in the input or in its `context`; in both it must be the same. */
function namedIn(input: SubjectFields, field: 'agent_id' | 'tenant_id' | 'session_id'): string | null {
  const above = readName(input[field]);
  const within = readName(input.context?.[field]);
  if (above !== null && within !== null && above !== within) {
    const message = `is another one than \`context.${field}\``;
    throw new Refusal('invalid_request', `\`${field}\` ${message}.`, [{ path: field, message }]);
  }
  return above ?? within;
}

/** Blank is the same as absent. */
export function readName(value: string | null | undefined): string | null {
  if (value === undefined || value === null) return null;
  return value.trim() === '' ? null : value;
}

function scoped(scope: Caller['agents'], asked: string | null, field: string, otherwise: string): string {
  if (asked !== null) return within(scope, asked, field);
  if (scope === '*') return otherwise;
  const [only] = scope;
  if (only === undefined || scope.length > 1) {
    throw new Refusal('forbidden', `The credential is for particular names: say which in \`${field}\`.`);
  }
  return only;
}

function within(scope: Caller['agents'], asked: string, field: string): string {
  if (scope === '*' || scope.includes(asked)) return asked;
  throw new Refusal('forbidden', `\`${field}\` is outside the scope of the credential.`);
}

/** The tenant that is named, which must be one that the user sees; else all of those. */
export function resolveTenants(input: SubjectFields, context: Context): '*' | readonly string[] {
  const isNamed = readName(input.tenant_id) !== null || readName(context.tenant_id) !== null;
  return isNamed ? [resolveTenant(input, context)] : context.caller.tenants;
}
