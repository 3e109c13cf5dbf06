import { parseStoreSettings } from '../platform/store/index.ts';
import type { LazyStore } from '../platform/store/lazy.ts';
import type { ClassifierSettings } from '../runtime/classifiers/types.ts';
import type { Config } from '../runtime/config/index.ts';
import { buildOff, limitTime } from '../runtime/observability/driver-checks.ts';
import type { DriverState } from '../runtime/observability/service-state.ts';

export interface DriverParts {
  readonly config: Config;
  readonly store: LazyStore;
  /** Checks what features connect to. */
  readonly listFeatureDrivers: () => Promise<readonly DriverState[]>;
}

/** The age up to which an answer is used again, in milliseconds: pages read it every few seconds. */
const FRESH_MS = 10_000;

/** Returns a function that checks the connected parts. Callers at the same time share one check. */
export function openDriverStates(parts: DriverParts): () => Promise<readonly DriverState[]> {
  let last: { readonly at_ms: number; readonly states: Promise<readonly DriverState[]> } | null = null;
  return () => {
    const nowMs = performance.now();
    if (last === null || nowMs - last.at_ms > FRESH_MS) last = { at_ms: nowMs, states: checkDrivers(parts) };
    return last.states;
  };
}

async function checkDrivers(parts: DriverParts): Promise<readonly DriverState[]> {
  const { config } = parts;
  const [store, own, classifiers] = await Promise.all([
    checkStore(parts),
    parts.listFeatureDrivers(),
    Promise.all(config.classifiers.map(checkClassifier)),
  ]);
  return [
    store,
    ...listIdentities(config, store.status),
    ...own,
    ...classifiers,
    describeTelemetry(config),
  ].toSorted((one, other) => LAST_KINDS.indexOf(one.kind) - LAST_KINDS.indexOf(other.kind));
}

/** The kinds that come after all others, in this order. */
const LAST_KINDS: readonly DriverState['kind'][] = ['identity', 'classifier', 'telemetry', 'advisor'];

async function checkStore({ config, store }: DriverParts): Promise<DriverState> {
  const driver = parseStoreSettings(config).kind;
  const answers = await limitTime(store.isThere(), false);
  return {
    ...{ kind: 'store', name: driver, driver, status: answers ? 'ok' : 'failing' },
    detail: answers ? null : 'It does not answer; requests that need it are refused.',
  };
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

/** Calls a classifier with a fixed text. A service without classifiers lists none. */
async function checkClassifier(settings: ClassifierSettings): Promise<DriverState> {
  const { probeClassifier } = await import('../runtime/classifiers/probe-classifier.ts');
  const failure = await limitTime(probeClassifier(settings, process.env), 'It did not answer in time.');
  const about = { kind: 'classifier', name: settings.name, driver: 'http' } as const;
  return { ...about, status: failure === null ? 'ok' : 'failing', detail: failure };
}

function describeTelemetry({ telemetry }: Config): DriverState {
  if (!telemetry.enabled)
    return buildOff('telemetry', 'OpenTelemetry collector', '`telemetry.enabled` is off.');
  return {
    ...{ kind: 'telemetry', name: 'OpenTelemetry collector', driver: 'otlp', status: 'unchecked' },
    detail: 'Failures to send are in the service log.',
  };
}
