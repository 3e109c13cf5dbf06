import type { Static } from 'typebox';
import { buildSection, Type } from '../../core/schema.ts';
import { awaitWithSignal } from '../../platform/await-with-signal.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import {
  limitValue,
  readSecretMember,
  type SecretBackend,
  type SecretDriver,
  SecretFailure,
} from './backend.ts';

const schema = Type.Optional(
  buildSection(
    {
      region: Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Region of the secrets manager (AWS).',
      }),
      secret_name: Type.String({
        minLength: 1,
        maxLength: 512,
        description:
          'Name or ARN of a secret. The members of a JSON secret are the secrets; a plain one is the secret `value`.',
      }),
    },
    { description: 'Used by `cloud`: a cloud secrets manager.' },
  ),
);

export type CloudSettings = Static<typeof schema>;

/**
 * AWS Secrets Manager, through its SDK, which finds credentials and endpoint in the usual places (environment, profile,
 * role). The SDK is loaded on first use. The secret is a JSON object whose members are the keys, or a plain text, which
 * is the key `value`.
 */
export const cloud = {
  name: 'cloud',
  docs: {
    reads: 'AWS Secrets Manager',
    names: 'members of the JSON in `secrets.cloud.secret_name`; `value` for a secret in plain text',
  },
  section: 'cloud',
  schema,
  open,
} as const satisfies SecretDriver<CloudSettings>;

/** The maximum number of attempts per request, including the first. */
const ATTEMPTS_MAX = 2;

type Sdk = typeof import('@aws-sdk/client-secrets-manager');

function open({ region, secret_name }: CloudSettings): SecretBackend {
  const connection = createLazyValue(async () => {
    const sdk: Sdk = await loadSdk();
    return { sdk, client: new sdk.SecretsManagerClient({ region, maxAttempts: ATTEMPTS_MAX }) };
  });
  const read = async (signal: AbortSignal): Promise<string | null> => {
    const { sdk, client: connected } = await connection.open();
    try {
      const question = new sdk.GetSecretValueCommand({ SecretId: secret_name });
      return getText(await awaitWithSignal(connected.send(question, { abortSignal: signal }), signal));
    } catch (error) {
      if (getName(error) === 'ResourceNotFoundException') return null;
      throw getFailure(error, signal);
    }
  };
  return {
    get: async (key, signal) => {
      const text = await read(signal);
      return text === null ? null : readFromText(text, key);
    },
    check: async (signal) => {
      if ((await read(signal)) === null)
        throw new SecretFailure('secrets_setup', 'has no secret of the name in `secrets.cloud.secret_name`');
    },
    close: () => void connection.ifOpened(({ client }) => client.destroy()),
  };
}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-secrets-manager');
  } catch {
    const what =
      'needs the package `@aws-sdk/client-secrets-manager`; install it next to the service with npm';
    throw new SecretFailure('secrets_setup', what);
  }
}

function getText(answer: {
  SecretString?: string | undefined;
  SecretBinary?: Uint8Array | undefined;
}): string {
  return answer.SecretString ?? Buffer.from(answer.SecretBinary ?? []).toString('utf8');
}

function readFromText(text: string, key: string): string | null {
  const members = getMembers(text);
  if (members !== null) return readSecretMember(members, key);
  return key === 'value' && text !== '' ? limitValue(text) : null;
}

function getMembers(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const DENIED = new Set([
  'AccessDeniedException',
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'SignatureDoesNotMatch',
  'CredentialsProviderError',
  'TokenProviderError',
]);

/** Maps an SDK error to a failure. Drops its message, which repeats names of accounts and roles. */
function getFailure(error: unknown, signal: AbortSignal): SecretFailure {
  if (error instanceof SecretFailure) return error;
  const name = getName(error);
  // The SDK also reports a closed connection as a timeout.
  if (signal.aborted) return new SecretFailure('secrets_timeout', 'did not answer in time');
  const status = (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode;
  if (DENIED.has(name) || status === 401 || status === 403) {
    const what =
      'does not let these credentials read the secret; see where the SDK finds them, and that they may `secretsmanager:GetSecretValue`';
    return new SecretFailure('secrets_denied', what);
  }
  const isRefused = status !== undefined && status < 500 && !/Throttl|TooMany|LimitExceeded/.test(name);
  if (!isRefused) return new SecretFailure('secrets_unavailable', 'cannot be reached, or cannot answer now');
  return new SecretFailure(
    'secrets_answer',
    `refuses the question (${/^\w{1,64}$/.test(name) ? name : status})`,
  );
}

function getName(error: unknown): string {
  return error instanceof Error ? error.name : '';
}
