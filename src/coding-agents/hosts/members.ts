/** What a value of a foreign file holds, by name. */
export type Members = Readonly<Record<string, unknown>>;

/** The members of an object; none where it is no object. */
export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}
