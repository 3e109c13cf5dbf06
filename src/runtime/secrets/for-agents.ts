import { durationMs } from '../../core/policy/compile/duration.ts';
import { lazy } from '../../platform/lazy.ts';
import type { Capabilities } from '../capabilities/types.ts';
import type { Config } from '../config/index.ts';
import type { DriverFile } from '../plugins/driver-file.ts';
import type { Store } from '../store/index.ts';
import type { Ports, Runtime } from '../types.ts';
import { Unavailable } from '../unavailable.ts';

export interface ForAgentsParts {
  readonly config: Config;
  readonly store: () => Promise<Store>;
  readonly ports: () => Ports;
  readonly plugins: Runtime['plugins'];
}

/** The part of a runtime that has to do with what agents are trusted with: tokens, and secrets by them. */
export function forAgents(parts: ForAgentsParts): {
  readonly offers: Pick<Runtime, 'capabilities' | 'secrets' | 'note'>;
  readonly close: () => Promise<void>;
} {
  const { config, ports } = parts;
  const secrets = secretsOf(config, parts.plugins);
  return {
    offers: {
      capabilities: lazy(() => openCapabilitiesOf(parts)).open,
      secrets,
      note: noting((event) => ports().record(event)),
    },
    close: async () => secrets?.close(),
  };
}

/** Writes an event down, and says in words of ours that it could not be. */
export function noting(record: Ports['record']): Runtime['note'] {
  return async (event) => {
    try {
      await record(event);
    } catch (fault) {
      throw new Unavailable('It could not be written to the audit journal.', fault);
    }
  };
}

async function openCapabilitiesOf({ config, store, ports }: ForAgentsParts): Promise<Capabilities> {
  const { openCapabilities } = await import('../capabilities/capabilities.ts');
  const { default_ttl, max_ttl, active_max } = config.capability_tokens;
  return openCapabilities({
    store,
    ports,
    ttl_default_ms: durationMs(default_ttl),
    ttl_max_ms: durationMs(max_ttl),
    active_max,
    steady_ms: () => performance.now(),
  });
}

/** The backend is opened by the first agent that wants something of it. */
function secretsOf(config: Config, plugins: Runtime['plugins']) {
  const { secrets: settings } = config;
  const { backend } = settings;
  if (backend === undefined) return null;
  const opened = lazy(async () => {
    const { openConfiguredSecrets } = await import('./open.ts');
    return openConfiguredSecrets(backend, settings, {
      env: process.env,
      driverOf: (from) => admittedDriver(config, plugins, from),
      now_ms: () => performance.now(),
    });
  });
  return {
    backend,
    open: opened.open,
    close: () => opened.ifOpened(({ close }) => close()),
  };
}

/** The file of a driver, where the service has its plug-in in use as it is now. */
async function admittedDriver(
  config: Config,
  plugins: Runtime['plugins'],
  from: string,
): Promise<DriverFile> {
  const { assertAdmitted, findDriver } = await import('../plugins/driver-file.ts');
  const file = await findDriver(config, from);
  const reports = (await plugins()).plugins;
  assertAdmitted(
    file,
    reports.find((report) => report.from === from),
    from,
  );
  return file;
}
