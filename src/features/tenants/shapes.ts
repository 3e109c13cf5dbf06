import { Type } from '../../core/schema.ts';
import { PRINTABLE_TEXT } from '../../operations/shapes.ts';

/** A tenant in the path of a route. */
export const tenantPath = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: PRINTABLE_TEXT,
  description: 'The tenant.',
});

/** The ID of a tenant that is created here. It appears in paths and file names, so it has a narrow alphabet. */
export const newTenantId = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
  description: 'The ID of the tenant: letters, digits and `. _ -`.',
});

/** The reason for a change, which the history shows. */
export const note = Type.String({
  maxLength: 500,
  pattern: PRINTABLE_TEXT,
  description: 'Why; shown in the history.',
});

export const versionNumber = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });
