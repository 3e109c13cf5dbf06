export { type ActivePolicy, type ConfiguredPolicy, type LoadResult, reloadConfiguredPolicy } from './load.ts';
export { buildPolicySettings, loadConfiguredPlugins, loadPolicy, type PolicyResult } from './load-policy.ts';
export { type PolicyCounts, type Validation, validateConfiguration } from './validate.ts';
export {
  buildWatchList,
  type FileWatch,
  type ScheduleOnce,
  type WatchList,
  type WatchOptions,
  watchFiles,
} from './watch.ts';
