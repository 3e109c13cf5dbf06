import { ALERT_QUEUE_PREFIX } from '../features/alerts/alert-store.ts';
import type { Runtime } from '../operations/runtime.ts';
import { parseStoreSettings, type Store } from '../platform/store/index.ts';
import type { LazyStore } from '../platform/store/lazy.ts';
import type { ClassifierSettings } from '../runtime/classifiers/types.ts';
import type { Config } from '../runtime/config/index.ts';
import { APPROVAL_QUEUE } from '../runtime/enforcement/approvals/outbox.ts';
import type { DriverState } from '../runtime/observability/service-state.ts';
import { SecretReadError } from '../runtime/secrets/secrets.ts';

export interface DriverParts {
  readonly config: Config;
  readonly store: LazyStore;
  readonly secrets: Runtime['secrets'];
  readonly alerts: Runtime['alerts'];
}

/** The age up to which an answer is used again, in milliseconds: pages read it every few seconds. */
const FRESH_MS = 10_000;
/** The time that one part has to answer, in milliseconds. */
const CHECK_MS_MAX = 3_000;

/** Returns a function that checks the connected parts. Callers at the same time share one check. */
export function openDriverStates(parts: DriverParts): () => Promise<readonly DriverState[]> {
  let last: { readonly at_ms: number; readonly states: Promise<readonly DriverState[]> } | null = null;
  return () => {
    const now_ms = performance.now();
    if (last === null || now_ms - last.at_ms > FRESH_MS)
      last = { at_ms: now_ms, states: checkDrivers(parts) };
    return last.states;
  };
}

async function checkDrivers(parts: DriverParts): Promise<readonly DriverState[]> {
  const { config } = parts;
  const [store, secrets, channels, provider, classifiers] = await Promise.all([
    checkStore(parts),
    checkSecrets(parts.secrets),
    checkDeliveries(parts),
    checkOpenIdProvider(config),
    Promise.all(config.classifiers.map(checkClassifier)),
  ]);
  return [
    store,
    secrets,
    ...channels,
    ...listIdentities(config, store.status),
    provider,
    ...classifiers,
    ...listUnchecked(config),
  ];
}

async function checkStore({ config, store }: DriverParts): Promise<DriverState> {
  const driver = parseStoreSettings(config).kind;
  const answers = await limitTime(store.isThere(), false);
  return {
    ...{ kind: 'store', name: driver, driver, status: answers ? 'ok' : 'failing' },
    detail: answers ? null : 'It does not answer; requests that need it are refused.',
  };
}

async function checkSecrets(secrets: Runtime['secrets']): Promise<DriverState> {
  if (secrets === null) return buildOff('secrets', 'secret backend', 'No `secrets.backend` is configured.');
  const about = { kind: 'secrets', name: secrets.backend, driver: secrets.backend } as const;
  const failure = await limitTime(
    secrets
      .open()
      .then(({ check }) => check())
      .then(
        () => null,
        (fault: unknown) => (fault instanceof SecretReadError ? fault.message : 'It cannot be opened.'),
      ),
    'It did not answer in time.',
  );
  return { ...about, status: failure === null ? 'ok' : 'failing', detail: failure };
}

/** Reports the outcome of the newest message to each channel, because a check would send one. */
async function checkDeliveries({ config, store, alerts }: DriverParts): Promise<readonly DriverState[]> {
  const names = (await alerts()).channels.map(({ name, type }) => ({
    queue: `${ALERT_QUEUE_PREFIX}${name}`,
    about: { kind: 'alert_channel', name, driver: type } as const,
  }));
  const { webhook } = config.approvals;
  const queues = [
    ...names,
    ...(webhook === undefined
      ? []
      : [
          {
            queue: APPROVAL_QUEUE,
            about: { kind: 'approval_webhook', name: 'approvals.webhook', driver: 'webhook' } as const,
          },
        ]),
  ];
  const newest = await limitTime(
    store.open().then((open) =>
      readNewestAttempts(
        open,
        queues.map(({ queue }) => queue),
      ),
    ),
    null,
  ).catch(() => null);
  return queues.map(({ queue, about }) => ({ ...about, ...describeAttempt(newest, queue) }));
}

type Attempts = ReadonlyMap<string, { readonly status: string; readonly reason: string | null }>;

async function readNewestAttempts({ db }: Store, queues: readonly string[]): Promise<Attempts> {
  const newest = db
    .selectFrom('outbox_messages')
    .select((eb) => eb.fn.max('delivery_id').as('delivery_id'))
    .where('queue', 'in', [...queues])
    .where('attempts', '>', 0)
    .groupBy('queue');
  const rows = await db
    .selectFrom('outbox_messages')
    .select(['queue', 'status', 'reason'])
    .where('delivery_id', 'in', newest)
    .execute();
  return new Map(rows.map(({ queue, status, reason }) => [queue, { status, reason }]));
}

function describeAttempt(newest: Attempts | null, queue: string): Pick<DriverState, 'status' | 'detail'> {
  if (newest === null) return { status: 'unchecked', detail: 'The store does not answer.' };
  const attempt = newest.get(queue);
  if (attempt === undefined) return { status: 'unchecked', detail: 'No message was sent to it yet.' };
  if (attempt.status === 'sent') return { status: 'ok', detail: 'It accepted the newest message.' };
  return { status: 'failing', detail: attempt.reason ?? 'It did not accept the newest message.' };
}

function listIdentities({ auth }: Config, store: DriverState['status']): readonly DriverState[] {
  const { jwt, api_keys } = auth;
  return [
    { kind: 'identity', name: 'local users', driver: 'password', status: store, detail: null },
    jwt === null
      ? buildOff('identity', 'signed tokens', 'No `auth.jwt` is configured.')
      : {
          ...{ kind: 'identity', name: 'signed tokens', driver: 'jwt' },
          ...(jwt.jwks_url === undefined
            ? { status: 'ok', detail: 'The keys are in a file.' }
            : { status: 'unchecked', detail: 'The keys are read with the first token.' }),
        },
    {
      ...{ kind: 'identity', name: 'API keys', driver: 'sha256', status: store },
      detail: `${api_keys.length} in the configuration; those of the console are in the store.`,
    },
  ];
}

/** Reads the provider's discovery document again. */
async function checkOpenIdProvider({ auth: { oidc } }: Config): Promise<DriverState> {
  if (oidc === null) return buildOff('identity', 'OpenID provider', 'No `auth.oidc` is configured.');
  const { openOpenIdProvider } = await import('../runtime/accounts/openid-provider.ts');
  const answers = await limitTime(
    openOpenIdProvider(oidc).then(
      () => true,
      () => false,
    ),
    false,
  );
  return {
    ...{ kind: 'identity', name: oidc.name, driver: 'oidc', status: answers ? 'ok' : 'failing' },
    detail: answers ? null : 'Its discovery document cannot be read; no user can sign in there.',
  };
}

/** Calls a classifier with a fixed text. A service without classifiers lists none. */
async function checkClassifier(settings: ClassifierSettings): Promise<DriverState> {
  const { probeClassifier } = await import('../runtime/classifiers/probe-classifier.ts');
  const failure = await limitTime(probeClassifier(settings, process.env), 'It did not answer in time.');
  const about = { kind: 'classifier', name: settings.name, driver: 'http' } as const;
  return { ...about, status: failure === null ? 'ok' : 'failing', detail: failure };
}

function listUnchecked({ telemetry, intelligence }: Config): readonly DriverState[] {
  return [
    telemetry.enabled
      ? {
          ...{ kind: 'telemetry', name: 'OpenTelemetry collector', driver: 'otlp', status: 'unchecked' },
          detail: 'Failures to send are in the service log.',
        }
      : buildOff('telemetry', 'OpenTelemetry collector', '`telemetry.enabled` is off.'),
    intelligence.enabled
      ? {
          ...{ kind: 'advisor', name: intelligence.backend?.model ?? 'advisor model' },
          ...{ driver: intelligence.backend?.provider ?? null, status: 'unchecked' },
          detail: 'It is called only when an operator requests advice.',
        }
      : buildOff('advisor', 'advisor model', '`intelligence.enabled` is off.'),
  ];
}

function buildOff(kind: DriverState['kind'], name: string, detail: string): DriverState {
  return { kind, name, driver: null, status: 'off', detail };
}

/** Returns `late` if the answer takes too long. */
async function limitTime<Answer>(answer: Promise<Answer>, late: Answer): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve(late), CHECK_MS_MAX);
  });
  return Promise.race([answer, limit]).finally(() => clearTimeout(timer));
}
