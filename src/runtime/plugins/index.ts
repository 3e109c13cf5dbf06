export { findOne } from './find.ts';
export { type LoadedPlugins, loadOne, loadPlugins } from './load.ts';
