const DOCUMENT_CHARS_MAX = 1_048_576;

export const textField = { type: 'string' } as const;
export const nullableText = { type: ['string', 'null'] } as const;
export const integerField = { type: 'integer' } as const;

/** A policy document as an operator types it. */
export const documentText = {
  type: 'string',
  maxLength: DOCUMENT_CHARS_MAX,
  description: 'YAML: rules, contracts and identities as in a policy file.',
} as const;

/** Builds the schema of one line of text. */
export function buildLineSchema(description: string) {
  return { type: 'string', maxLength: 500, pattern: '^[^\\p{Cc}\\p{Cs}]*$', description } as const;
}

/** Builds the schema of the number of a version. */
export function buildOptionalNumberSchema(description: string) {
  return { type: 'integer', minimum: 1, maximum: 1_000_000_000, description } as const;
}

/** Builds the schema of an answer whose members are all present. */
export function describeFields<const Fields extends object>(properties: Fields) {
  return {
    type: 'object',
    // A tuple with the union of the keys: from it the type of an answer has every member.
    required: Object.keys(properties) as [keyof Fields & string],
    properties,
  } as const;
}
