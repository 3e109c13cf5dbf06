/** What a caller may ask for. `person` permissions are never given to an agent's credential. */
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

/** The permissions that decide and change; only a person's credential carries them. */
export const PERSON_PERMISSIONS: readonly Permission[] = [
  'policy:reload',
  'memory:purge',
  'approvals:decide',
  'capabilities:issue',
  'secrets:check',
  'sessions:reset',
  'agents:block',
];

/** What somebody is who looks at the service. */
export const ROLES = ['viewer', 'auditor', 'approver', 'billing', 'admin'] as const;
export type Role = (typeof ROLES)[number];
