import type { Permission } from '../../config/permissions.ts';

/**
 * The permissions that the credential of an agent must have if nothing grants it others. Written here again, so that a
 * change of the defaults fails the tests.
 */
export const CREDENTIAL_PERMISSIONS: readonly Permission[] = [
  'check',
  'memory:use',
  'policy:read',
  'audit:import',
  'audit:read_own',
  'approvals:own',
  'costs:own',
];
