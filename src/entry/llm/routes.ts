import { wireFormats } from '../../core/wire/formats/index.ts';
import type { WireName, WireRoute } from '../../core/wire/wire-format.ts';

/** A path of a provider's API that this service serves in the provider's own format. */
export interface LlmRoute
  extends Omit<WireRoute, 'path' | 'name' | 'example'>,
    Partial<Pick<WireRoute, 'example'>> {
  readonly http: {
    readonly method: 'GET' | 'POST';
    /** The path in the API description, with parameters in braces. */
    readonly path: string;
  };
  /** The name in the API description: `openai_chat`. */
  readonly name: string;
  /** The wire format; `null` for a request for the list of models or one of them. */
  readonly wire: WireName | null;
}

/**
 * All routes of providers' APIs. They are not operations: bodies have the provider's format, so no schema of this
 * service validates them, and errors are written as the provider writes them.
 */
export const llmRoutes: readonly LlmRoute[] = [
  ...wireFormats.flatMap(({ name: wire, routes }) =>
    routes.map(({ path, name = wire.replace('.', '_'), ...route }) => ({
      ...route,
      http: { method: 'POST' as const, path },
      name,
      wire,
    })),
  ),
  {
    http: { method: 'GET', path: '/v1/models' },
    name: 'models',
    wire: null,
    summary: 'The aliases and the models of all providers of the API',
  },
  {
    http: { method: 'GET', path: '/v1/models/{model}' },
    // Names of models may contain slashes.
    url: '/v1/models/*',
    name: 'model',
    wire: null,
    summary: 'One of the models',
  },
];
