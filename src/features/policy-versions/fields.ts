import { Type } from '../../core/schema.ts';
import { PRINTABLE_TEXT } from '../../operations/shapes.ts';

const DOCUMENT_CHARS_MAX = 1_048_576;

/** A policy document as an operator types it. */
export const documentText = Type.String({
  maxLength: DOCUMENT_CHARS_MAX,
  description: 'YAML: rules, contracts and identities as in a policy file.',
});

/** Builds the schema of one line of text. */
export function buildLineSchema(description: string) {
  return Type.String({ maxLength: 500, pattern: PRINTABLE_TEXT, description });
}

/** Builds the schema of the number of a version. */
export function buildOptionalNumberSchema(description: string) {
  return Type.Integer({ minimum: 1, maximum: 1_000_000_000, description });
}
