import type { SecretDriverName } from '../../drivers/secrets/index.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import type { Config } from '../../runtime/config/index.ts';
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

/** A backend that opens when an agent first asks. */
interface SecretBackend extends NonNullable<Runtime['secrets']> {
  readonly close: () => Promise<void>;
}

/** Returns the configured backend, or `null`. */
export function openSecretBackend(
  config: Config,
  plugins: () => ReturnType<Runtime['plugins']>,
): SecretBackend | null {
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
