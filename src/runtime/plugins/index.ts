export { findPlugin, findPlugins } from './find.ts';
export { type LoadedPlugins, loadPlugin, loadPlugins, type PluginConsent } from './load.ts';
export { hashPluginFiles } from './plugin-files.ts';
export { getTrustStatus, readTrustedHashes, writeTrustedFiles } from './trusted-files.ts';
