// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { matchesAny } from '../../core/tags.ts';
import type { ValueProblem } from './parse-config-value.ts';
import type { PathStep } from './problem-path.ts';
import type { Config } from './schema.ts';

/** Checks the constraints between keys of `proxy`. Messages are predicates of sentences. */
export function checkProxyRequirements({ proxy }: Pick<Config, 'proxy'>): ValueProblem[] {
  return [
    ...checkAddresses(proxy),
    ...checkNames(proxy),
    ...checkKeys(proxy),
    ...checkHeaders(proxy),
    ...checkAliases(proxy),
    ...checkFallbacks(proxy),
    ...checkTimes(proxy),
  ];
}

type Proxy = Config['proxy'];

function checkAddresses({ target, providers }: Proxy): ValueProblem[] {
  const written: readonly (readonly [readonly PathStep[], string | undefined])[] = [
    [['proxy', 'target'], target],
    ...providers.map(({ base_url }, i) => [['proxy', 'providers', i, 'base_url'], base_url] as const),
  ];
  return written.flatMap(([steps, address]) => {
    const message = address === undefined ? null : findAddressProblem(address);
    return message === null ? [] : [buildProblem(steps, message)];
  });
}

function findAddressProblem(address: string): string | null {
  // A caller that needs no credentials leaves secrets unresolved. The URL is checked when the secret is read.
  if (address.includes('${secret:')) return null;
  if (!URL.canParse(address)) return 'is no address that can be called';
  const { username, password, search, hash } = new URL(address);
  if (username !== '' || password !== '') return 'has a user or a password; a key goes into `api_key`';
  return search === '' && hash === '' ? null : 'has a query or a fragment, and may have neither';
}

function checkNames({ providers }: Proxy): ValueProblem[] {
  const seen = new Set<string>();
  return providers.flatMap(({ name }, i) => {
    const steps = ['proxy', 'providers', i, 'name'];
    if (name === 'target')
      return [buildProblem(steps, 'is the name of what `proxy.target` makes; take another')];
    if (seen.has(name)) return [buildProblem(steps, 'is the name of two providers')];
    seen.add(name);
    return [];
  });
}

function checkKeys({ providers }: Proxy): ValueProblem[] {
  return providers.flatMap(({ api_key, keys, auth_header, client_key }, i) => {
    const steps = ['proxy', 'providers', i];
    if (api_key !== undefined && keys !== undefined)
      return [buildProblem(steps, 'must have `api_key` or `keys`, not both')];
    if (api_key !== undefined || keys !== undefined)
      return client_key === 'drop'
        ? [buildProblem([...steps, 'client_key'], 'has no effect together with a key')]
        : [];
    return auth_header === undefined
      ? []
      : [buildProblem([...steps, 'auth_header'], 'needs `api_key` or `keys`')];
  });
}

/** Headers that the proxy sets on every call, and headers that would hold a credential in plain text. */
const NOT_FREE = new Set([
  'accept-encoding',
  'api-key',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-api-key',
  'x-goog-api-key',
]);

function checkHeaders({ providers }: Proxy): ValueProblem[] {
  return providers.flatMap(({ headers, auth_header }, i) => {
    const own = Object.keys(headers).flatMap((name) => {
      const isKey = name.toLowerCase() === auth_header?.toLowerCase();
      if (!NOT_FREE.has(name.toLowerCase()) && !isKey) return [];
      const message = 'may not be set here; a key goes into `api_key`, its header into `auth_header`';
      return [buildProblem(['proxy', 'providers', i, 'headers', name], message)];
    });
    const isSettled = ['host', 'content-length', 'transfer-encoding', 'connection'];
    if (!isSettled.includes(auth_header?.toLowerCase() ?? '')) return own;
    return [...own, buildProblem(['proxy', 'providers', i, 'auth_header'], 'is no header for a key')];
  });
}

function checkAliases({ models, providers }: Proxy): ValueProblem[] {
  const known = new Set(providers.map(({ name }) => name));
  return Object.entries(models).flatMap(([alias, entries]) =>
    entries.flatMap(({ provider }, i) =>
      known.has(provider)
        ? []
        : [
            buildProblem(
              ['proxy', 'models', alias, i, 'provider'],
              'is the name of no provider in `proxy.providers`',
            ),
          ],
    ),
  );
}

function checkFallbacks(proxy: Proxy): ValueProblem[] {
  return proxy.fallbacks.flatMap(({ to }, i) =>
    to.flatMap((model, j) =>
      isServed(model, proxy)
        ? []
        : [buildProblem(['proxy', 'fallbacks', i, 'to', j], 'is a model that no provider serves')],
    ),
  );
}

function isServed(model: string, { models, providers, target }: Proxy): boolean {
  if (target !== undefined || Object.hasOwn(models, model)) return true;
  return providers.some((one) => model.startsWith(`${one.name}/`) || matchesAny(one.models, model));
}

function checkTimes({ timeouts: { first_byte_ms }, timeout_seconds }: Proxy): ValueProblem[] {
  if (first_byte_ms === undefined || first_byte_ms <= timeout_seconds * 1_000) return [];
  return [buildProblem(['proxy', 'timeouts', 'first_byte_ms'], 'is longer than `proxy.timeout_seconds`')];
}

function buildProblem(steps: readonly PathStep[], message: string): ValueProblem {
  return { steps, message };
}
