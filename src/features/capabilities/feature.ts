import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import type { Feature } from '../../operations/feature.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import { buildCapabilityJobs } from './jobs.ts';
import { buildPresentCapability } from './present.ts';
import { capabilityMigrations } from './tables.ts';

export const capabilitiesFeature: Feature = {
  migrations: capabilityMigrations,
  open: ({ config: { capability_tokens }, store, ports }) => {
    const capabilities = createLazyValue(async () =>
      (await import('./capabilities.ts')).openCapabilities({
        store,
        ports,
        ttl_default_ms: parseDurationMs(capability_tokens.default_ttl),
        ttl_max_ms: parseDurationMs(capability_tokens.max_ttl),
        active_max: capability_tokens.active_max,
        steady_ms: () => performance.now(),
      }),
    );
    const presentCapability = buildPresentCapability(capabilities.open);
    return { members: { capabilities: capabilities.open, presentCapability } };
  },
  openBackground: (parts) => ({ jobs: buildCapabilityJobs(parts) }),
};
