import { CHAIN_LINKS_MAX, type Principal, type ProvedUser } from '../core/types/index.ts';
import { buildNamedUser } from '../runtime/access/callers.ts';
import { hasLoop } from '../runtime/access/names.ts';
import { coversName } from '../runtime/access/scope.ts';
import { type Context, Refusal } from './operation.ts';

/** Members of a request's context on the person and the chain. They state names; credentials prove them. */
export interface StatedPrincipal {
  readonly user_id?: string | null | undefined;
  readonly chain?: readonly string[] | null | undefined;
  readonly agent_tier?: Principal['claimed_tier'] | undefined;
  readonly task_id?: string | null | undefined;
  readonly trace_id?: string | null | undefined;
}

/** The parts of a call's context from which the person and the chain are resolved. */
export type PrincipalContext = Pick<Context, 'caller' | 'user_id' | 'task_id' | 'trace_id'>;

/**
 * Resolves the person, the chain and the tier behind a request; `null` if it has none. A credential's own
 * person, chain and tier take precedence over those that the request states.
 *
 * @throws Refusal for a chain with a loop, with too many links, or with an agent outside the credential's scope, and
 * for a tier other than the credential's
 */
export function resolvePrincipal(stated: StatedPrincipal, context: PrincipalContext): Principal | null {
  const { caller } = context;
  const named = dropBlank(stated.user_id) ?? dropBlank(context.user_id);
  const user = caller.user ?? resolveNamedUser(named, context);
  const principal = {
    user,
    claimed_user: named === user?.user_id ? null : named,
    chain: caller.chain ?? resolveStatedChain(stated.chain ?? [], context),
    agent_tier: caller.agent_tier ?? null,
    claimed_tier: resolveStatedTier(stated.agent_tier ?? null, context),
    task_id: dropBlank(stated.task_id) ?? context.task_id ?? null,
    trace_id: dropBlank(stated.trace_id) ?? context.trace_id ?? null,
  };
  const { chain, ...names } = principal;
  return chain.length === 0 && Object.values(names).every((each) => each === null) ? null : principal;
}

/** A credential that may act for people proves the one whom the request names. */
function resolveNamedUser(named: string | null, { caller }: PrincipalContext): ProvedUser | null {
  if (named === null || caller.may_act_for === undefined) return null;
  if (!coversName(caller.may_act_for, named)) return null;
  return buildNamedUser(named);
}

function resolveStatedChain(chain: readonly string[], { caller }: PrincipalContext): readonly string[] {
  const wrong =
    chain.length > CHAIN_LINKS_MAX
      ? `has at most ${CHAIN_LINKS_MAX} agents`
      : hasLoop(chain)
        ? 'has an agent twice'
        : chain.some((name) => name.trim() === '')
          ? 'has an agent without a name'
          : null;
  if (wrong !== null)
    throw new Refusal('invalid_request', `\`chain\` ${wrong}.`, [{ path: 'chain', message: wrong }]);
  if (chain.every((name) => coversName(caller.agents, name))) return chain;
  throw new Refusal('forbidden', '`chain` has an agent outside the scope of the credential.');
}

function resolveStatedTier(
  stated: Principal['claimed_tier'],
  { caller }: PrincipalContext,
): Principal['claimed_tier'] {
  if (caller.agent_tier === undefined || stated === null) return stated;
  if (stated === caller.agent_tier) return null;
  throw new Refusal('forbidden', '`agent_tier` is another one than that of the credential.');
}

function dropBlank(value: string | null | undefined): string | null {
  return value === undefined || value === null || value.trim() === '' ? null : value;
}
