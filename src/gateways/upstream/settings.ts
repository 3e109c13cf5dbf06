import type { ProviderFamily } from '../../core/wire/wire-format.ts';
import type { proxySchema } from '../../runtime/config/schema-proxy.ts';
import type { SchemaValue } from '../../runtime/config/schema-types.ts';

/** The `proxy` section of the configuration. */
export type ProxySettings = SchemaValue<typeof proxySchema>;

type WrittenProvider = ProxySettings['providers'][number];

/** A provider as calls use it. */
export interface UpstreamProvider {
  readonly name: string;
  /** `null`: it is taken to speak whatever comes. */
  readonly family: ProviderFamily | null;
  readonly base: ProviderBase;
  /** Empty where the client's own credential is sent, or none. */
  readonly keys: readonly ProviderKey[];
  /** The header of the key where it is not the family's; in lower case. */
  readonly key_header: string | null;
  readonly client_key: 'pass' | 'drop';
  /** Names, in lower case, and values. */
  readonly headers: readonly (readonly [string, string])[];
  /** Patterns with `*`. */
  readonly models: readonly string[];
  readonly weight: number;
  readonly priority: number;
  /** US dollars for a million tokens, of which three quarters go in; `null` where nothing is written. */
  readonly price: number | null;
}

export interface ProviderKey {
  readonly value: string;
  readonly weight: number;
}

/** Where a provider is: `https://host:port`, and its path without a slash at its end. */
export interface ProviderBase {
  readonly origin: string;
  readonly path: string;
}

/** The name of the provider that `proxy.target` makes. */
export const TARGET_PROVIDER = 'target';

/** Where the public API of a family is. */
const PUBLIC_BASE: Readonly<Record<ProviderFamily, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  gemini: 'https://generativelanguage.googleapis.com',
};

/** Origins of the public APIs. */
export const PUBLIC_ORIGINS: ReadonlySet<string> = new Set(
  Object.values(PUBLIC_BASE).map((address) => new URL(address).origin),
);

/** The providers that are configured, in the order in which they are written. */
export function listProviders(settings: ProxySettings): readonly UpstreamProvider[] {
  return settings.providers.map(buildProvider);
}

/** The provider for all that no other one serves; `null` without `proxy.target`. */
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

/** Origin and path of an address, which was checked before. */
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
    base: parseBaseUrl(written.base_url ?? PUBLIC_BASE[family]),
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

/** One figure to compare by: what goes in is most of what is paid for in an agent's calls. */
export function blendPrice({ input, output }: { readonly input: number; readonly output: number }): number {
  return (3 * input + output) / 4;
}

/** A public API speaks its own language only: a credential meant for another one is not to reach it. */
function findFamily(origin: string): ProviderFamily | null {
  const families = Object.keys(PUBLIC_BASE) as ProviderFamily[];
  return families.find((family) => new URL(PUBLIC_BASE[family]).origin === origin) ?? null;
}
