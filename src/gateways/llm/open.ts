import { blendedPrices } from '../../features/costs/prices.ts';
import type { SpendAsk } from '../../features/costs/types.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { Config } from '../../runtime/config/index.ts';
import { openUpstreams, type UpstreamPorts, type UpstreamTry } from '../upstream/index.ts';
import type { Llm } from './call.ts';
import { type LlmParts, openLlm } from './llm.ts';

/** What only the process has. */
export interface LlmWorld extends Omit<LlmParts, 'upstreams' | 'budgets' | 'settings'> {
  readonly costs: Runtime['costs'];
}

/** Opens the road of calls as the configuration has it. */
export function openConfiguredLlm({ cost, proxy, redaction }: Config, world: LlmWorld): Llm {
  const { costs, ...rest } = world;
  const { response_bytes_max, stream_buffer_bytes_max, cache_entries_max } = proxy;
  const settings = {
    mode: redaction.mode,
    asks_usage: cost.enabled,
    response_bytes_max,
    held_units_max: stream_buffer_bytes_max,
    cache_entries_max,
  };
  const budgets = { reserve: async (ask: SpendAsk) => (await costs()).reserve(ask) };
  const priceOf = blendedPrices(cost.prices);
  const observe = ({ provider, status, duration_ms, attempt }: UpstreamTry): void => {
    world.calls?.tried(provider, status, duration_ms / 1_000);
    if (attempt > 1) world.calls?.retried(provider);
  };
  const standing: NonNullable<UpstreamPorts['standing']> = (provider, state) =>
    world.calls?.breaker(provider, state);
  return openLlm({
    ...rest,
    upstreams: openUpstreams(proxy, { priceOf, observe, standing }),
    budgets,
    settings,
  });
}
