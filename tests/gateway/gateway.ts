/** The service as a gateway in front of recorded providers. */
import type { Provider } from '../support/provider/provider.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';

export interface GatewayOptions extends Omit<TestServiceOptions, 'config'> {
  /** Beside the providers. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Beside the providers' addresses; of `proxy`. */
  readonly proxy?: Readonly<Record<string, unknown>>;
}

/** Starts it with one provider of each family; it tries everything once and goes on, so that clients see what happens. */
export function startGateway(provider: Provider, options: GatewayOptions = {}): Promise<TestService> {
  const proxy = {
    providers: providersAt(provider.url),
    retry: { max_attempts: 1 },
    circuit_breaker: { failures: 10_000 },
    ...options.proxy,
  };
  return startTestService({ ...options, config: { ...options.config, proxy } });
}

/** A provider of each family at one address. */
export function providersAt(url: string): readonly Readonly<Record<string, unknown>>[] {
  return [
    { name: 'openai', family: 'openai', base_url: `${url}/v1` },
    { name: 'anthropic', family: 'anthropic', base_url: url },
    { name: 'gemini', family: 'gemini', base_url: url },
  ];
}
