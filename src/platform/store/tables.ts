/**
 * All tables of the store. The owner of a table adds it to this interface next to its description (`tables.ts` of a
 * feature, `declare module`), and names the migrations that create it in `server/store.ts`.
 */
export interface StoreTables {
  /** The applied migrations, and their times (ISO 8601). */
  readonly store_migrations: { readonly name: string; readonly timestamp: string };
}
