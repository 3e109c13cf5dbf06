// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { isIP } from 'node:net';
import { isLinkLocalHost, isSecureAddress } from './address-checks.ts';
import type { ValueProblem } from './parse-config-value.ts';
import type { PathStep } from './problem-path.ts';
import { checkMcpRequirements } from './requirements-mcp.ts';
import { checkProxyRequirements } from './requirements-proxy.ts';
import type { Config } from './schema.ts';
import type { AnyConfigSection } from './sections.ts';

/** Checks the constraints between keys that the schema cannot express. Messages are predicates of sentences. */
export function checkRequirements(config: Config, sections: readonly AnyConfigSection[]): ValueProblem[] {
  return [
    ...checkKeySources(config),
    ...checkProxyAddresses(config),
    ...checkExpiries(config),
    ...checkClassifierSettings(config),
    ...checkStoreAddress(config),
    ...checkObjectStorage(config),
    ...checkIndexStore(config),
    ...checkCluster(config),
    ...checkProxyRequirements(config),
    ...checkMcpRequirements(config),
    ...checkDashboardUsers(config),
    ...checkPublicUrl(config),
    ...sections.flatMap(({ name, findProblems }) =>
      (findProblems?.(config[name], config) ?? []).map(({ steps, message }) =>
        buildProblem([name, ...steps], message),
      ),
    ),
  ];
}

function checkKeySources({ auth: { jwt } }: Config): ValueProblem[] {
  if (jwt === null) return [];
  const sources = [jwt.jwks_url, jwt.jwks_file, jwt.public_key_file].filter((source) => source !== undefined);
  if (sources.length === 1) return [];
  return [
    buildProblem(['auth', 'jwt'], 'must have exactly one of `jwks_url`, `jwks_file` and `public_key_file`'),
  ];
}

function checkProxyAddresses({ auth }: Config): ValueProblem[] {
  return auth.trusted_proxies.flatMap((block, i) =>
    isAddressBlock(block)
      ? []
      : [buildProblem(['auth', 'trusted_proxies', i], 'must be an address or a CIDR block')],
  );
}

function isAddressBlock(block: string): boolean {
  const [address = '', bits, ...more] = block.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

function checkExpiries({ auth, detection }: Config): ValueProblem[] {
  const dates: readonly (readonly [readonly PathStep[], string | undefined])[] = [
    ...auth.api_keys.map((key, i) => [['auth', 'api_keys', i, 'expires_at'], key.expires_at] as const),
    ...detection.allowlist.map(
      (entry, i) => [['detection', 'allowlist', i, 'expires_at'], entry.expires_at] as const,
    ),
  ];
  return dates.flatMap(([steps, date]) =>
    date === undefined || isDate(date) ? [] : buildProblem(steps, 'is no date that exists'),
  );
}

/** Checks the classifiers. An IP address is checked here; the addresses of a host name are checked with each call. */
function checkClassifierSettings({ classifiers: configured }: Config): ValueProblem[] {
  return configured.flatMap(({ name, url, labels }, i) => {
    const here = ['classifiers', i];
    if (configured.findIndex((other) => other.name === name) < i)
      return [buildProblem([...here, 'name'], 'is the name of another classifier')];
    if (Object.keys(labels).length === 0)
      return [buildProblem([...here, 'labels'], 'has no label, so that no finding could count')];
    if (!URL.canParse(url)) return [buildProblem([...here, 'url'], 'is no address that can be called')];
    const { username, password, host } = new URL(url);
    if (username !== '' || password !== '')
      return [buildProblem([...here, 'url'], 'has a user or a password; set `api_key_env` instead')];
    return isLinkLocalHost(host)
      ? [
          buildProblem(
            [...here, 'url'],
            'is a link-local address, where clouds serve credentials of machines',
          ),
        ]
      : [];
  });
}

function checkDashboardUsers({ dashboard: { users } }: Config): ValueProblem[] {
  const ids = users.map(({ user_id }) => user_id.toLowerCase());
  return ids.flatMap((id, i) =>
    ids.indexOf(id) < i
      ? [buildProblem(['dashboard', 'users', i, 'user_id'], 'is there already; letters count in either case')]
      : [],
  );
}

/** Checks the console's address. Passwords and cookies cross a network only under TLS. */
function checkPublicUrl({ server: { public_url } }: Config): ValueProblem[] {
  if (public_url === null || isSecureAddress(public_url)) return [];
  return [buildProblem(['server', 'public_url'], 'must begin with `https://`')];
}

/** Checks the URL of the store, because special characters in a password can break it. */
function checkStoreAddress({ storage: { url } }: Config): ValueProblem[] {
  if (url === undefined || url.startsWith('sqlite:') || isAddress(url)) return [];
  const message =
    'is no address that can be read; in its user and password `@`, `/`, `:`, `?`, `#` and `%` are written as `%` and two hexadecimal digits';
  return [buildProblem(['storage', 'url'], message)];
}

/** Checks the object storage. Events cross a network only under TLS, and one request stores at most 5 GB. */
function checkObjectStorage({ audit: { object_storage, max_size_mb } }: Config): ValueProblem[] {
  if (object_storage === undefined) return [];
  const { endpoint } = object_storage;
  const FILE_MB_MAX = 4_096;
  return [
    endpoint === undefined || isSecureAddress(endpoint)
      ? null
      : buildProblem(['audit', 'object_storage', 'endpoint'], 'must begin with `https://`'),
    max_size_mb <= FILE_MB_MAX
      ? null
      : buildProblem(
          ['audit', 'max_size_mb'],
          `must be at most ${FILE_MB_MAX} with \`audit.object_storage\``,
        ),
  ].filter((one) => one !== null);
}

/** An index in PostgreSQL uses the database of the store. */
function checkIndexStore({ audit, storage: { url } }: Config): ValueProblem[] {
  if (audit.index !== 'postgres' || (url !== undefined && !url.startsWith('sqlite:'))) return [];
  const message = 'uses the database of `storage.url`, which must begin with `postgres://`';
  return [buildProblem(['audit', 'index'], message)];
}

/** Checks that a cluster has a store that its nodes can share. */
function checkCluster({ cluster: { enabled }, storage: { url } }: Config): ValueProblem[] {
  if (!enabled || (url !== undefined && !url.startsWith('sqlite:'))) return [];
  const message =
    'needs a store that all nodes share; set `storage.url` to `postgres://USER:${NAME}@HOST:PORT/DATABASE`, or take `cluster` out';
  return [buildProblem(['cluster', 'enabled'], message)];
}

function isAddress(url: string): boolean {
  try {
    const { username, password, pathname, search, hash } = new URL(url);
    // An `@` after the host belongs to an unescaped password, whose first part would be parsed as the host.
    if (hash !== '' || `${pathname}${search}`.includes('@')) return false;
    return [username, password].every((part) => decodeURIComponent(part) !== null);
  } catch {
    return false;
  }
}

/** Returns whether a day exists in its month. `Date.parse` reads 31 February as a day in March. */
function isDate(date: string): boolean {
  const [day = ''] = date.split('T');
  return !Number.isNaN(Date.parse(date)) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

function buildProblem(steps: readonly PathStep[], message: string): ValueProblem {
  return { steps, message };
}
