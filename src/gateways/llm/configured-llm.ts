import type { Runtime } from '../../operations/runtime.ts';
import type { Config } from '../../runtime/config/index.ts';
import { openUpstreams, type UpstreamPorts, type UpstreamTry } from '../upstream/upstreams.ts';
import type { EndorsingMessages, LlmProxy } from './llm-call.ts';
import { type LlmProxyParts, openLlmProxy } from './llm-proxy.ts';

/** The dependencies that the process provides and the configuration does not. */
export interface LlmDependencies extends Omit<LlmProxyParts, 'upstreams' | 'budgets' | 'settings'> {
  readonly modelCosts: Runtime['modelCosts'];
}

/** Opens the LLM proxy with the settings of the configuration. */
export async function openConfiguredLlm(
  { flow, proxy, redaction }: Config,
  world: LlmDependencies,
): Promise<LlmProxy> {
  const { modelCosts, ...rest } = world;
  const budgets = await modelCosts();
  const { response_bytes_max, stream_buffer_bytes_max, cache_entries_max } = proxy;
  const settings = {
    mode: redaction.mode,
    asks_usage: budgets.counts_usage,
    response_bytes_max,
    held_units_max: stream_buffer_bytes_max,
    cache_entries_max,
    endorsing: readEndorsingMessages(flow),
  };
  const onTry = ({ provider, status, duration_ms, attempt }: UpstreamTry): void => {
    world.counts?.tried(provider, status, duration_ms / 1_000);
    if (attempt > 1) world.counts?.retried(provider);
  };
  const onBreakerState: NonNullable<UpstreamPorts['onBreakerState']> = (provider, state) =>
    world.counts?.breaker(provider, state);
  return openLlmProxy({
    ...rest,
    upstreams: openUpstreams(proxy, { priceOf: budgets.getBlendedPrice, onTry, onBreakerState }),
    budgets,
    settings,
  });
}

function readEndorsingMessages({
  llm_user_role,
  operator_prompts,
}: Config['flow']): EndorsingMessages | null {
  const trustsUserRole = llm_user_role === 'trust';
  if (!trustsUserRole && operator_prompts.length === 0) return null;
  return { trusts_user_role: trustsUserRole, operator_prompts: new Set(operator_prompts) };
}
