import type { AgentTier, ProvedUser } from '../../core/types/index.ts';
import type { Permission, Role } from '../config/permissions.ts';
import type { NameScope } from './scope.ts';

/** The caller, as a credential or an address proves it. */
export interface Caller {
  /** `loopback`, `operator`, `agent-token`, `key:<id>`, `jwt:<subject>`, `cli:<user>`, `mcp:<user>`, `user:<user_id>`. Recorded as `caller_id`. */
  readonly id: string;
  readonly kind: 'anonymous' | 'agent' | 'person';
  readonly permissions: readonly Permission[];
  /** The tenants and agents that it may name; `*` for any. */
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
  /** The person whom the credential or the transport proves; absent if neither proves one. */
  readonly user?: ProvedUser;
  /** The agents that a signed token lists, the one next to the person first; absent if it lists none. */
  readonly chain?: readonly string[];
  /** The agent's tier, if the credential proves it. */
  readonly agent_tier?: AgentTier;
  /** The people for whom the credential may act if a request names them; absent for none. */
  readonly may_act_for?: NameScope;
  /**
   * For a user who signed in: when a second factor was proved last, in milliseconds since 1970; `null` for never. Absent
   * for other callers.
   */
  readonly second_factor_ms?: number | null;
  /** For a signed token: when it is refused from then on, in milliseconds since 1970. Absent for other callers. */
  readonly expires_ms?: number;
}

/** A user of the web interface, from the configuration. */
export interface User {
  readonly user_id: string;
  readonly role: Role;
  /** The tenants that the user sees; `*` for all. */
  readonly tenants: readonly string[];
}

/** The missing first administrator of the console; `null` if there is one. Without a terminal there is no link. */
export type FirstSignIn = { readonly link: string | null } | null;
