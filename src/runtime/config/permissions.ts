/** The permissions of callers. An agent's credential never carries those in `OPERATOR_PERMISSIONS`. */
export const PERMISSIONS = [
  'check',
  'memory:use',
  'prompts:speak',
  'policy:read',
  'audit:import',
  'audit:read_own',
  'audit:read',
  'audit:export',
  'audit:manage',
  'metrics:read',
  'policy:reload',
  'memory:purge',
  'approvals:own',
  'approvals:read',
  'approvals:decide',
  'capabilities:read',
  'capabilities:issue',
  'secrets:resolve',
  'secrets:check',
  'sessions:reset',
  'agents:block',
  'costs:own',
  'costs:read',
  'dashboard:view',
  'incident:read',
  'compliance:report',
  'compliance:verify',
  'tasks:read',
  'tasks:create',
  'tenants:read',
  'tenants:manage',
  'alerts:read',
  'alerts:manage',
  'intelligence:explain',
  'intelligence:recommend',
  'intelligence:compliance',
  'intelligence:auto-config',
  'intelligence:integrate',
  'policies:edit',
  'users:manage',
  'keys:manage',
  'settings:read',
  'account:own',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The permissions that change state, decide, or take evidence out of the service; only a person's credential carries them. */
export const OPERATOR_PERMISSIONS: readonly Permission[] = [
  'audit:export',
  'audit:manage',
  'policy:reload',
  'memory:purge',
  'approvals:decide',
  'capabilities:issue',
  'secrets:check',
  'sessions:reset',
  'agents:block',
  'compliance:verify',
  'tenants:manage',
  'alerts:manage',
  'policies:edit',
  'users:manage',
  'keys:manage',
  'account:own',
];

/**
 * The permissions that a credential or a sign-in must prove. A name that a program on this machine states never has
 * them.
 */
export const PROVED_PERMISSIONS: readonly Permission[] = [
  ...OPERATOR_PERMISSIONS,
  'check',
  'prompts:speak',
  'tasks:create',
];

/**
 * The permissions on things that belong to no tenant. A user of particular tenants does not get them, whatever the role
 * is.
 */
export const SERVICE_PERMISSIONS: readonly Permission[] = [
  'metrics:read',
  'policy:reload',
  'memory:purge',
  'secrets:check',
  'agents:block',
  'compliance:verify',
  'policies:edit',
  'users:manage',
  'keys:manage',
  'settings:read',
];

/** The roles of users. */
export const ROLES = ['viewer', 'auditor', 'approver', 'policy_editor', 'billing', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The permissions of every role that reads. */
const VIEW: readonly Permission[] = [
  'policy:read',
  'audit:read_own',
  'audit:read',
  'metrics:read',
  'approvals:own',
  'approvals:read',
  'dashboard:view',
  'incident:read',
  'compliance:report',
  'tasks:read',
  'tenants:read',
  'alerts:read',
  'intelligence:explain',
  'account:own',
];

/** Acting as an agent: a role never allows it. */
const AGENT_ONLY: readonly Permission[] = ['audit:import', 'memory:use', 'secrets:resolve'];

/**
 * The permissions of the roles. A user who signed in has all of them. A name in `x-service-user` from this machine only
 * reads: it has none of `OPERATOR_PERMISSIONS`.
 */
export const ROLE_PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: VIEW,
  auditor: [...VIEW, 'audit:export', 'capabilities:read', 'settings:read'],
  approver: [...VIEW, 'approvals:decide', 'tasks:create'],
  policy_editor: [
    ...VIEW,
    'check',
    'prompts:speak',
    'tasks:create',
    'intelligence:recommend',
    'intelligence:compliance',
    'intelligence:auto-config',
    'intelligence:integrate',
    'policy:reload',
    'policies:edit',
    'settings:read',
  ],
  billing: ['costs:own', 'costs:read', 'account:own'],
  admin: PERMISSIONS.filter((one) => !AGENT_ONLY.includes(one)),
};
