import { openCircuitBreaker } from './circuit-breaker.ts';
import { openUpstreamConnections } from './connections.ts';
import { openCooldowns } from './cooldowns.ts';
import { openLatencyTracker } from './order.ts';
import { systemPorts, type UpstreamPorts } from './ports.ts';
import { buildRoutingTable } from './routing-table.ts';
import { type SendParts, sendUpstream } from './send.ts';
import type { ProxySettings } from './settings.ts';
import type { Upstreams } from './types.ts';

export { UpstreamFailure, type UpstreamFailureCode } from './failure.ts';
export type { UpstreamPorts, UpstreamTry } from './ports.ts';

/**
 * Opens the providers of a configuration. It connects to nothing and loads no library before the first call.
 * @param ports replaces ports of this process
 */
export function openUpstreams(settings: ProxySettings, ports: Partial<UpstreamPorts> = {}): Upstreams {
  const world = { ...systemPorts, ...ports };
  const { timeouts, connections_max, circuit_breaker } = settings;
  const connections = openUpstreamConnections({ connect_ms: timeouts.connect_ms, connections_max });
  const routing = buildRoutingTable(settings);
  const parts: SendParts = {
    settings,
    routing,
    breaker: openCircuitBreaker(circuit_breaker, world.now_ms, world.onBreakerState),
    cooldowns: openCooldowns(world.now_ms),
    latencies: openLatencyTracker(),
    connections,
    ports: world,
  };
  return {
    send: (request) => sendUpstream(request, parts),
    catalogue: routing.catalogue,
    close: connections.close,
  };
}
