import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import type { SecretDriverName } from '../../drivers/secrets/index.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import type { Store } from '../../platform/store/index.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { Capabilities } from '../../runtime/enforcement/capabilities/types.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import type { DriverFile } from '../../runtime/plugins/driver-file.ts';
import type { Secrets } from '../../runtime/secrets/secrets.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** The secret backend; `null` if none is configured. */
    readonly secrets: {
      readonly backend: SecretDriverName;
      /** Rejects with a `SecretReadError` if the backend cannot be opened; the next call tries again. */
      readonly open: () => Promise<Secrets>;
    } | null;
  }
}

export interface AgentSecretsParts {
  readonly config: Config;
  readonly store: () => Promise<Store>;
  readonly ports: () => EnforcementPorts;
  readonly plugins: Runtime['plugins'];
}

/**
 * Opens the parts of a runtime that serve credentials to agents: capability tokens, and secrets that the tokens grant.
 */
export function openAgentSecrets(parts: AgentSecretsParts): {
  readonly offers: Pick<Runtime, 'capabilities' | 'secrets' | 'note'>;
  readonly close: () => Promise<void>;
} {
  const { config, ports } = parts;
  const secrets = openBackend(config, parts.plugins);
  return {
    offers: {
      capabilities: createLazyValue(() => openConfiguredCapabilities(parts)).open,
      secrets,
      note: openNoteWriter((event) => ports().record(event)),
    },
    close: async () => secrets?.close(),
  };
}

/** Returns a function that records an event. If that fails, it throws an error with a message of the service. */
export function openNoteWriter(record: EnforcementPorts['record']): Runtime['note'] {
  return async (event) => {
    try {
      await record(event);
    } catch (fault) {
      throw new Unavailable('It could not be written to the audit journal.', fault);
    }
  };
}

async function openConfiguredCapabilities({
  config,
  store,
  ports,
}: AgentSecretsParts): Promise<Capabilities> {
  const { openCapabilities } = await import('../../runtime/enforcement/capabilities/capabilities.ts');
  const { default_ttl, max_ttl, active_max } = config.capability_tokens;
  return openCapabilities({
    store,
    ports,
    ttl_default_ms: parseDurationMs(default_ttl),
    ttl_max_ms: parseDurationMs(max_ttl),
    active_max,
    steady_ms: () => performance.now(),
  });
}

/** The first request of an agent opens the backend. */
function openBackend(config: Config, plugins: Runtime['plugins']) {
  const { secrets: settings } = config;
  const { backend } = settings;
  if (backend === undefined) return null;
  const opened = createLazyValue(async () => {
    const { openConfiguredSecrets } = await import('../../runtime/secrets/open.ts');
    return openConfiguredSecrets(backend, settings, {
      env: process.env,
      driverOf: (from) => findAdmittedDriver(config, plugins, from),
      now_ms: () => performance.now(),
    });
  });
  return {
    backend,
    open: opened.open,
    close: () => opened.ifOpened(({ close }) => close()),
  };
}

/** Returns the file of a driver, if the service has admitted the plug-in with its present content. */
async function findAdmittedDriver(
  config: Config,
  plugins: Runtime['plugins'],
  from: string,
): Promise<DriverFile> {
  const { assertAdmitted, findDriver } = await import('../../runtime/plugins/driver-file.ts');
  const file = await findDriver(config, from);
  const reports = (await plugins()).plugins;
  assertAdmitted(
    file,
    reports.find((report) => report.from === from),
    from,
  );
  return file;
}
