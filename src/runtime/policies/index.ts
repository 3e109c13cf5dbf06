export { type InForce, type Loaded, type LoadResult, reload } from './load.ts';
export { loadPolicy, type PolicyResult, pluginsOf, policySettings } from './load-policy.ts';
export { type PolicyCounts, type Validation, validate } from './validate.ts';
export { type Later, type Watch, type WatchList, type WatchOptions, watchFiles, watchList } from './watch.ts';
