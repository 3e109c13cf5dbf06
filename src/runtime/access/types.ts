import type { Permission, Role } from '../config/permissions.ts';

/** Who asks, as far as a credential or an address proves it. */
export interface Caller {
  /** `loopback`, `operator`, `agent-token`, `key:<id>`, `jwt:<subject>`, `cli:<user>`, `mcp:<user>`. Recorded as `caller_id`. */
  readonly id: string;
  readonly kind: 'anonymous' | 'agent' | 'person';
  readonly permissions: readonly Permission[];
  /** Which tenants and agents it may name; `*` any. */
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
}

/** Somebody who may look, as the configuration names them. */
export interface User {
  readonly user_id: string;
  readonly role: Role;
  /** Tenants that they see; `*` among them: all. */
  readonly tenants: readonly string[];
}
