/** The members of a JSON object from a file that another program wrote. */
export type JsonMembers = Readonly<Record<string, unknown>>;

/** Returns the members of an object; an empty record for any other value. */
export function readMembers(value: unknown): JsonMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMembers) : {};
}
