export { findOne } from './find.ts';
export { type LoadedPlugins, loadOne, loadPlugins } from './load.ts';
export type { LockedFiles } from './locked.ts';
