/** The service as an LLM proxy in front of recorded providers. */
import type { Provider } from '../support/provider/provider.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';

export interface GatewayOptions extends Omit<TestServiceOptions, 'config'> {
  /** Further configuration, in addition to the providers. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Further members of `proxy`, in addition to the providers' addresses. */
  readonly proxy?: Readonly<Record<string, unknown>>;
}

/**
 * Starts the service with one provider of each family. It never retries, and its circuit breaker stays closed, so that
 * clients see every fault.
 */
export function startGateway(provider: Provider, options: GatewayOptions = {}): Promise<TestService> {
  const proxy = {
    providers: providersAt(provider.url),
    retry: { max_attempts: 1 },
    circuit_breaker: { failures: 10_000 },
    ...options.proxy,
  };
  return startTestService({ ...options, config: { ...options.config, proxy } });
}

/** Returns a provider of each family at one address. */
export function providersAt(url: string): readonly Readonly<Record<string, unknown>>[] {
  return [
    { name: 'openai', family: 'openai', base_url: `${url}/v1` },
    { name: 'anthropic', family: 'anthropic', base_url: url },
    { name: 'gemini', family: 'gemini', base_url: url },
  ];
}
