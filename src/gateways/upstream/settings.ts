import type { Static } from 'typebox';
import { type ApiFamilyName, apiFamilies, getApiFamily } from '../../core/wire/families/index.ts';
import type { proxySchema } from '../../runtime/config/schema-proxy.ts';

/** The `proxy` section of the configuration. */
export type ProxySettings = Static<typeof proxySchema>;

type WrittenProvider = ProxySettings['providers'][number];

/** A configured provider, parsed. */
export interface UpstreamProvider {
  readonly name: string;
  /** `null` if the provider accepts any API. */
  readonly family: ApiFamilyName | null;
  readonly base: ProviderBase;
  /** Empty if the client's own credential is sent, or none. */
  readonly keys: readonly ProviderKey[];
  /** The header of the key, in lower case; `null` uses the family's header. */
  readonly key_header: string | null;
  readonly client_key: 'pass' | 'drop';
  /** Pairs of names, in lower case, and values. */
  readonly headers: readonly (readonly [string, string])[];
  /** Patterns that may contain `*`. */
  readonly models: readonly string[];
  readonly weight: number;
  readonly priority: number;
  /** US dollars per million tokens, of which three quarters are input; `null` if no price is configured. */
  readonly price: number | null;
}

/** An API key, and its weight among the keys of its provider. */
export interface ProviderKey {
  readonly value: string;
  readonly weight: number;
}

/** The origin, `https://host:port`, and the path without a trailing slash. */
export interface ProviderBase {
  readonly origin: string;
  readonly path: string;
}

/** The name of the provider that `proxy.target` defines. */
export const TARGET_PROVIDER = 'target';

/** The origins of the public APIs. */
export const PUBLIC_ORIGINS: ReadonlySet<string> = new Set(
  apiFamilies.map(({ public_base_url }) => new URL(public_base_url).origin),
);

/** Returns the configured providers, in the order of the configuration. */
export function listProviders(settings: ProxySettings): readonly UpstreamProvider[] {
  return settings.providers.map(buildProvider);
}

/** Returns the provider for calls that no other provider serves; `null` without `proxy.target`. */
export function findTargetProvider({ target }: ProxySettings): UpstreamProvider | null {
  if (target === undefined) return null;
  const base = parseBaseUrl(target);
  return {
    name: TARGET_PROVIDER,
    family: findFamily(base.origin),
    base,
    keys: [],
    key_header: null,
    client_key: 'pass',
    headers: [],
    models: ['*'],
    weight: 1,
    priority: 0,
    price: null,
  };
}

/** Parses a base URL, which the configuration has already validated. */
export function parseBaseUrl(address: string): ProviderBase {
  const { origin, pathname } = new URL(address);
  return { origin, path: pathname.replace(/\/+$/, '') };
}

function buildProvider(written: WrittenProvider): UpstreamProvider {
  const { name, family, api_key, price } = written;
  const keys = written.keys ?? (api_key === undefined ? [] : [{ api_key, weight: 1 }]);
  return {
    name,
    family,
    base: parseBaseUrl(written.base_url ?? getApiFamily(family).public_base_url),
    keys: keys.map((key) => ({ value: key.api_key, weight: key.weight })),
    key_header: written.auth_header?.toLowerCase() ?? null,
    client_key: written.client_key,
    headers: Object.entries(written.headers).map(([header, value]) => [header.toLowerCase(), value] as const),
    models: written.models,
    weight: written.weight,
    priority: written.priority,
    price: price === undefined ? null : blendPrice(price),
  };
}

/**
 * Blends prices into one number for comparison. Input counts three quarters, because it is most of the cost of an
 * agent's calls.
 */
export function blendPrice({ input, output }: { readonly input: number; readonly output: number }): number {
  return (3 * input + output) / 4;
}

/**
 * Returns the family of a public API by its origin; `null` for any other origin. A public API accepts calls of its own
 * family only, because credentials for another API must not reach it.
 */
function findFamily(origin: string): ApiFamilyName | null {
  return apiFamilies.find(({ public_base_url }) => new URL(public_base_url).origin === origin)?.name ?? null;
}
