/** Parts of the schemas of answers. The field names of a schema are those of the API. */
export const textSchema = { type: 'string' } as const;
export const nullableTextSchema = { type: ['string', 'null'] } as const;
export const textListSchema = { type: 'array', items: textSchema } as const;
export const integerSchema = { type: 'integer' } as const;
export const nullableIntegerSchema = { type: ['integer', 'null'] } as const;

/** Builds the schema of an object whose members are all present. */
export function buildObjectSchema<const Properties extends object>(properties: Properties) {
  // A tuple with the union of the keys: from it the type of an answer has every member.
  const required = Object.keys(properties) as [keyof Properties & string];
  return { type: 'object', required, properties } as const;
}

/** Builds the schema of a list. */
export function buildListSchema<const Items extends object>(items: Items, description?: string) {
  return { type: 'array', items, ...(description !== undefined && { description }) } as const;
}
