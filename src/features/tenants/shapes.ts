import { PRINTABLE_TEXT } from '../../operations/shapes.ts';

/** A tenant in the path of a route. */
export const tenantPath = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: PRINTABLE_TEXT,
  description: 'The tenant.',
} as const;

/** The ID of a tenant that is created here. It appears in paths and file names, so it has a narrow alphabet. */
export const newTenantId = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
  description: 'The ID of the tenant: letters, digits and `. _ -`.',
} as const;

/** The reason for a change, which the history shows. */
export const note = {
  type: 'string',
  maxLength: 500,
  pattern: PRINTABLE_TEXT,
  description: 'Why; shown in the history.',
} as const;

export const versionNumber = { type: 'integer', minimum: 1, maximum: 1_000_000_000 } as const;

/** One version in the history of a policy set. */
export const versionProperties = {
  version: { type: 'integer' },
  sha256: { type: 'string' },
  note: { type: 'string' },
  restored_from: { type: ['integer', 'null'], description: 'The version that a rollback restored.' },
  created_by: { type: 'string' },
  created_at: { type: 'string' },
} as const;

export const versionRequired = [
  'version',
  'sha256',
  'note',
  'restored_from',
  'created_by',
  'created_at',
] as const;
