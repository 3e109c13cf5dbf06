import { environmentNameSchema, urlSchema } from '../../platform/schema-parts.ts';
import {
  type DriverEnvironment,
  readSecretMember,
  type SecretBackend,
  type SecretDriver,
  SecretFailure,
} from './backend.ts';

export interface VaultSettings {
  /** The base URL, such as `https://vault.example:8200`. */
  readonly address: string;
  /** The environment variable that holds the token; messages name it. */
  readonly token_env: string;
  /** The mount and path of one secret: `secret/service`, or `secret/data/service` as in the API. */
  readonly path: string;
  readonly namespace?: string;
}

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
  schema: {
    type: 'object',
    description: 'For `vault`.',
    additionalProperties: false,
    required: ['address', 'token_env', 'path'],
    properties: {
      address: { ...urlSchema, description: 'Address of the vault.' },
      token_env: {
        ...environmentNameSchema,
        description: 'Name of the environment variable that holds the token.',
      },
      path: {
        type: 'string',
        pattern: '^[^\\s?#]+$',
        maxLength: 1024,
        'x-expects': 'must be mount and path of a secret, as `secret/service`',
        description:
          'Mount and path of a secret of the key-value engine, version 2, as `secret/service`; without a mount it is in `secret`. Its fields are the secrets; so are those of secrets below it, as `db/prod#password`.',
      },
      namespace: {
        type: 'string',
        pattern: '^[A-Za-z0-9_./-]+$',
        maxLength: 256,
        'x-expects': 'must be a path of letters, digits, `_`, `.`, `-` and `/`',
        description: 'Namespace of the vault, where it has some.',
      },
    },
  },
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
  const { mount, path } = placeOf(settings.path);
  const base = settings.address.replace(/\/+$/, '');
  const ask = (route: string, signal: AbortSignal) => request(`${base}/v1/${route}`, token, settings, signal);
  return {
    get: async (key, signal) => {
      const { folder, field } = locate(key);
      const parts = [...path, ...folder].map(encodeURIComponent).join('/');
      const answer = await ask(`${mount}/data/${parts}`, signal);
      return answer === null ? null : readSecretMember(fieldsOf(answer), field);
    },
    check: async (signal) => {
      if ((await ask('auth/token/lookup-self', signal)) === null) throw denied(settings);
    },
    close: () => {},
  };
}

/** Splits `secret/data/a/b` and `secret/a/b` into the mount and the parts of the path; `a` means `secret/a`. */
function placeOf(written: string): { mount: string; path: readonly string[] } {
  const parts = written.split('/').filter((part) => part !== '');
  const [mount = '', ...rest] = parts.length === 1 ? ['secret', ...parts] : parts;
  const path = rest[0] === 'data' ? rest.slice(1) : rest;
  if (path.length > 0 && [mount, ...path].every((part) => !/^\.+$/.test(part)))
    return { mount: encodeURIComponent(mount), path };
  throw new SecretFailure('secrets_setup', 'needs a `path` of mount and secret, as `secret/service`');
}

function locate(key: string): { folder: readonly string[]; field: string } {
  const [name = '', field] = key.split('#');
  if (field === undefined && !name.includes('/')) return { folder: [], field: name };
  return { folder: name.split('/'), field: field ?? 'value' };
}

/** Returns the parsed response; `null` if the route does not exist. */
async function request(
  url: string,
  token: string,
  settings: VaultSettings,
  signal: AbortSignal,
): Promise<unknown> {
  const headers = {
    'x-vault-token': token,
    'x-vault-request': 'true',
    ...(settings.namespace !== undefined && { 'x-vault-namespace': settings.namespace }),
  };
  // Following a redirect would send the token to its target.
  const init = { headers, signal, redirect: 'manual' } as const;
  const response = await fetch(url, init)
    // The server may have closed a kept-alive connection. Reading twice is harmless.
    .catch(() => fetch(url, init))
    .catch((error) => {
      throw unreached(error, settings);
    });
  if (response.status === 200) return parse(response, settings);
  await response.body?.cancel().catch(() => {});
  if (response.status === 404) return null;
  throw refusal(response.status, settings);
}

function unreached(error: unknown, { address }: VaultSettings): SecretFailure {
  if (isTimeout(error)) return new SecretFailure('secrets_timeout', 'did not answer in time');
  return new SecretFailure('secrets_unavailable', `cannot be reached at \`${originOf(address)}\``);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
}

/** Removes a user and password that a URL may contain. */
function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : 'its address';
}

function refusal(status: number, settings: VaultSettings): SecretFailure {
  if (status === 401 || status === 403) return denied(settings);
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

function denied({ token_env }: VaultSettings): SecretFailure {
  const what = `does not let the token in \`${token_env}\` read this; it is wrong or expired, or its policy lacks the path`;
  return new SecretFailure('secrets_denied', what);
}

async function parse(response: Response, settings: VaultSettings): Promise<unknown> {
  try {
    return JSON.parse(await readBounded(response)) as unknown;
  } catch (error) {
    if (error instanceof SecretFailure) throw error;
    if (!(error instanceof SyntaxError)) throw unreached(error, settings);
    throw new SecretFailure('secrets_answer', 'answers with what is no JSON');
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX)
      throw new SecretFailure('secrets_answer', `answers with more than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns the fields of a secret from `data.data`. Version 1 of the engine returns them in `data`. */
function fieldsOf(answer: unknown): unknown {
  const outer = (answer as { data?: { data?: unknown; metadata?: unknown } } | null)?.data;
  if (typeof outer === 'object' && outer !== null && 'data' in outer && 'metadata' in outer)
    return outer.data;
  const what = 'answers as version 1 of the key-value engine does; enable version 2 at this mount';
  throw new SecretFailure('secrets_answer', what);
}
