/**
 * All tables of the store. The owner of a table adds it to this interface next to its description (`defineTable` in
 * `tables.ts` of a feature, `declare module`), and lists its migration in `server/store-migrations.ts`.
 */
export interface StoreTables {
  /** The applied migrations, and their times (ISO 8601). */
  readonly store_migrations: { readonly name: string; readonly timestamp: string };
}
