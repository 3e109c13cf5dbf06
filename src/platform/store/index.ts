export { BYTES } from './columns.ts';
export { StoreFailure, type StoreFailureCode } from './failure.ts';
export { type LazyStore, lazyStore } from './lazy.ts';
export type { Migrations } from './migrations.ts';
export type { ConnectStore, Store, StoreOptions } from './open.ts';
export { type StoreSettings, storeSettings } from './settings.ts';
export type { StoreTables } from './tables.ts';
