export { StoreFailure, type StoreFailureCode } from './failure.ts';
export { type LazyStore, openLazyStore } from './lazy.ts';
export type { Migrations } from './migrations.ts';
export type { ConnectStore, Store, StoreOptions } from './open.ts';
export { parseStoreSettings, type StoreSettings } from './settings.ts';
export type { StoreTables } from './tables.ts';
