import type { Static } from 'typebox';
import { buildSection, Type } from '../../core/schema.ts';
import {
  type HttpClient,
  HttpFailure,
  type HttpReply,
  openHttpClient,
} from '../../platform/net/http-client.ts';
import { environmentNameSchema, urlSchema } from '../../platform/schema-parts.ts';
import {
  type DriverEnvironment,
  readSecretMember,
  type SecretBackend,
  type SecretDriver,
  SecretFailure,
} from './backend.ts';

const schema = Type.Optional(
  buildSection(
    {
      address: { ...urlSchema, description: 'Address of the vault.' },
      token_env: {
        ...environmentNameSchema,
        description: 'Name of the environment variable that holds the token.',
      },
      path: Type.String({
        pattern: '^[^\\s?#]+$',
        maxLength: 1024,
        'x-expects': 'must be mount and path of a secret, as `secret/service`',
        description:
          'Mount and path of a secret of the key-value engine, version 2, as `secret/service`; without a mount it is in `secret`. Its fields are the secrets; so are those of secrets below it, as `db/prod#password`.',
      }),
      namespace: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9_./-]+$',
          maxLength: 256,
          'x-expects': 'must be a path of letters, digits, `_`, `.`, `-` and `/`',
          description: 'Namespace of the vault, if it uses namespaces.',
        }),
      ),
    },
    { description: 'Used by `vault`.' },
  ),
);

export type VaultSettings = Static<typeof schema>;

/**
 * Vault and compatible servers (OpenBao): version 2 of the key-value engine, over HTTP. A key is a field of the secret
 * at `path`. A key with a `/` or a `#` names a secret below it: `db/prod#password` is the field `password` of the
 * secret `<path>/db/prod`; without `#` the field is `value`. Reads always return the latest version.
 */
export const vault = {
  name: 'vault',
  docs: {
    reads: 'HashiCorp Vault, OpenBao: key-value engine, version 2',
    names:
      'fields of the secret at `secrets.vault.path`; with `/` or `#` a secret below it: `db/prod#password`, the field `value` without `#`',
  },
  section: 'vault',
  schema,
  address_key: 'address',
  open,
} as const satisfies SecretDriver<VaultSettings>;

const ANSWER_BYTES_MAX = 2_097_152;

/** @throws SecretFailure if the token's variable is not set, or `path` contains no mount and secret */
function open(settings: VaultSettings, { env }: Pick<DriverEnvironment, 'env'>): SecretBackend {
  const token = (env[settings.token_env] ?? '').trim();
  if (token === '' || !/^[\x21-\x7e]+$/.test(token)) {
    const what = token === '' ? 'is not set' : 'holds what is no token';
    throw new SecretFailure(
      'secrets_setup',
      `needs a token in the environment variable \`${settings.token_env}\`, which ${what}`,
    );
  }
  const { mount, path } = getPlace(settings.path);
  const base = settings.address.replace(/\/+$/, '');
  const client = openHttpClient({ env });
  const request = (route: string, signal: AbortSignal) =>
    requestSecret({ url: `${base}/v1/${route}`, token, settings, client, signal });
  return {
    get: async (key, signal) => {
      const { folder, field } = locateSecret(key);
      const parts = [...path, ...folder].map(encodeURIComponent).join('/');
      const answer = await request(`${mount}/data/${parts}`, signal);
      return answer === null ? null : readSecretMember(getFields(answer), field);
    },
    check: async (signal) => {
      if ((await request('auth/token/lookup-self', signal)) === null) throw buildDeniedFailure(settings);
    },
    close: () => void client.close(),
  };
}

/** Splits `secret/data/a/b` and `secret/a/b` into the mount and the parts of the path; `a` means `secret/a`. */
function getPlace(written: string): { mount: string; path: readonly string[] } {
  const parts = written.split('/').filter((part) => part !== '');
  const [mount = '', ...rest] = parts.length === 1 ? ['secret', ...parts] : parts;
  const path = rest[0] === 'data' ? rest.slice(1) : rest;
  if (path.length > 0 && [mount, ...path].every((part) => !/^\.+$/.test(part)))
    return { mount: encodeURIComponent(mount), path };
  throw new SecretFailure('secrets_setup', 'needs a `path` of mount and secret, as `secret/service`');
}

function locateSecret(key: string): { folder: readonly string[]; field: string } {
  const [name = '', field] = key.split('#');
  if (field === undefined && !name.includes('/')) return { folder: [], field: name };
  return { folder: name.split('/'), field: field ?? 'value' };
}

interface VaultRequest {
  readonly url: string;
  readonly token: string;
  readonly settings: VaultSettings;
  readonly client: HttpClient;
  readonly signal: AbortSignal;
}

/** Returns the parsed response; `null` if the route does not exist. */
async function requestSecret({ url, token, settings, client, signal }: VaultRequest): Promise<unknown> {
  const headers = {
    'x-vault-token': token,
    'x-vault-request': 'true',
    ...(settings.namespace !== undefined && { 'x-vault-namespace': settings.namespace }),
  };
  const response = await client
    .call({ method: 'GET', url, headers, signal, response_bytes_max: ANSWER_BYTES_MAX })
    .catch((error) => {
      throw buildUnreachedFailure(error, settings);
    });
  if (response.status === 200) return parseReply(response);
  if (response.status === 404) return null;
  throw buildStatusFailure(response.status, settings);
}

function buildUnreachedFailure(error: unknown, { address }: VaultSettings): SecretFailure {
  const kind = error instanceof HttpFailure ? error.kind : 'unreachable';
  if (kind === 'timeout') return new SecretFailure('secrets_timeout', 'did not answer in time');
  if (kind === 'too_long')
    return new SecretFailure('secrets_answer', `answers with more than ${ANSWER_BYTES_MAX} bytes`);
  const where = `at \`${getOrigin(address)}\``;
  if (kind === 'link_local')
    return new SecretFailure('secrets_setup', `is not called ${where}, because this is a link-local address`);
  if (kind === 'certificate')
    return new SecretFailure('secrets_unavailable', `has no valid TLS certificate ${where}`);
  return new SecretFailure('secrets_unavailable', `cannot be reached ${where}`);
}

/** Removes a user and password that a URL may contain. */
function getOrigin(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : 'its address';
}

function buildStatusFailure(status: number, settings: VaultSettings): SecretFailure {
  if (status === 401 || status === 403) return buildDeniedFailure(settings);
  if (status >= 300 && status < 400) {
    const what = 'answers with a redirect, which is not followed; give the address that it points to';
    return new SecretFailure('secrets_answer', what);
  }
  if (status === 503) return new SecretFailure('secrets_unavailable', 'is sealed or not ready (HTTP 503)');
  if (status >= 500 || status === 429)
    return new SecretFailure('secrets_unavailable', `cannot answer now (HTTP ${status})`);
  const what = `refuses the question (HTTP ${status}); see \`secrets.vault.path\` and that its engine is version 2`;
  return new SecretFailure('secrets_answer', what);
}

function buildDeniedFailure({ token_env }: VaultSettings): SecretFailure {
  const what = `does not let the token in \`${token_env}\` read this; it is wrong or expired, or its policy lacks the path`;
  return new SecretFailure('secrets_denied', what);
}

function parseReply({ body }: HttpReply): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    throw new SecretFailure('secrets_answer', 'answers with what is no JSON');
  }
}

/** Returns the fields of a secret from `data.data`. Version 1 of the engine returns them in `data`. */
function getFields(answer: unknown): unknown {
  const outer = (answer as { data?: { data?: unknown; metadata?: unknown } } | null)?.data;
  if (typeof outer === 'object' && outer !== null && 'data' in outer && 'metadata' in outer)
    return outer.data;
  const what = 'answers as version 1 of the key-value engine does; enable version 2 at this mount';
  throw new SecretFailure('secrets_answer', what);
}
