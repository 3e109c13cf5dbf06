/** The permissions of callers. An agent's credential never carries those in `PERSON_PERMISSIONS`. */
export const PERMISSIONS = [
  'check',
  'memory:use',
  'policy:read',
  'audit:read_own',
  'audit:read',
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
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The permissions that change state or decide; only an operator's credential carries them. */
export const PERSON_PERMISSIONS: readonly Permission[] = [
  'policy:reload',
  'memory:purge',
  'approvals:decide',
  'capabilities:issue',
  'secrets:check',
  'sessions:reset',
  'agents:block',
];

/** The roles of operators. */
export const ROLES = ['viewer', 'auditor', 'approver', 'billing', 'admin'] as const;
export type Role = (typeof ROLES)[number];
