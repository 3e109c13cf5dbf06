/**
 * All tables of the store. The owner of a table adds it to this interface next to its description (`defineTable` in
 * `tables.ts`, `declare module`). Its migration is in `feature.ts`, or in `server/store-migrations.ts`.
 */
export interface StoreTables {
  /** The applied migrations, and their times (ISO 8601). */
  readonly store_migrations: { readonly name: string; readonly timestamp: string };
}
