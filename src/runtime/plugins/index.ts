export { findPlugin } from './find.ts';
export { type LoadedPlugins, loadPlugin, loadPlugins } from './load.ts';
export type { LockedFiles } from './locked-files.ts';
