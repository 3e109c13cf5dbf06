import { openBreaker } from './breaker.ts';
import { openConnections } from './connections.ts';
import { openSpeeds } from './order.ts';
import { openDirectory } from './plan.ts';
import { systemPorts, type UpstreamPorts } from './ports.ts';
import { openRests } from './rests.ts';
import { type SendParts, send } from './send.ts';
import type { ProxySettings } from './settings.ts';
import type { Upstreams } from './types.ts';

export { UpstreamFailure, type UpstreamFailureCode } from './failure.ts';
export type { UpstreamPorts, UpstreamTry } from './ports.ts';

/**
 * Opens the providers of a configuration. Nothing is connected to and no library is loaded before the first call.
 * @param ports what is to be otherwise than in this process
 */
export function openUpstreams(settings: ProxySettings, ports: Partial<UpstreamPorts> = {}): Upstreams {
  const world = { ...systemPorts, ...ports };
  const { timeouts, connections_max, circuit_breaker } = settings;
  const connections = openConnections({ connect_ms: timeouts.connect_ms, connections_max });
  const directory = openDirectory(settings);
  const parts: SendParts = {
    settings,
    directory,
    breaker: openBreaker(circuit_breaker, world.now_ms, world.standing),
    rests: openRests(world.now_ms),
    speeds: openSpeeds(),
    connections,
    ports: world,
  };
  return {
    send: (request) => send(request, parts),
    catalogue: directory.catalogue,
    close: connections.close,
  };
}
