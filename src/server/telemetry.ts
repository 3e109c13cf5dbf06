import { StartFailure } from '../platform/failure.ts';
import type { Log } from '../platform/log.ts';
import type { Config } from '../runtime/config/index.ts';
import type { Telemetry } from '../runtime/observability/telemetry/types.ts';

/**
 * The packages that telemetry needs, with the versions that it is tested with. They are no peers of the package either: npm
 * refuses to install next to other versions of a peer, also of an optional one.
 */
export const TELEMETRY_PACKAGES: Readonly<Record<string, string>> = {
  '@opentelemetry/api': '^1.10.0',
  '@opentelemetry/exporter-metrics-otlp-http': '^0.301.0',
  '@opentelemetry/exporter-trace-otlp-http': '^0.301.0',
  '@opentelemetry/resources': '^3.1.0',
  '@opentelemetry/sdk-metrics': '^3.1.0',
  '@opentelemetry/sdk-trace': '^3.1.0',
};

/**
 * Checks that the packages of telemetry are installed, without loading them.
 *
 * @throws StartFailure which names the missing packages and the command that installs them
 */
export function requireTelemetry(
  { telemetry, origin }: Pick<Config, 'telemetry' | 'origin'>,
  isInstalled: (name: string) => boolean = isThere,
): void {
  if (!telemetry.enabled) return;
  const missing = Object.entries(TELEMETRY_PACKAGES).filter(([name]) => !isInstalled(name));
  if (missing.length === 0) return;
  const wanted = missing.map(([name, range]) => `'${name}@${range}'`);
  const message = `needs packages that are not installed; install them next to the service with \`npm install ${wanted.join(' ')}\``;
  const problem = { file: origin.label, path: 'telemetry.enabled', message };
  throw new StartFailure('config_invalid', `\`telemetry.enabled\` ${message}.`, [problem]);
}

function isThere(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Opens telemetry for one process. Returns `null` and loads nothing if telemetry is off. */
export async function openProcessTelemetry(
  { telemetry }: Config,
  version: string,
  processName: string,
  log: Log,
): Promise<Telemetry | null> {
  if (!telemetry.enabled) return null;
  const { openTelemetry } = await import('../runtime/observability/telemetry/telemetry.ts');
  return openTelemetry({ settings: telemetry, version, process_name: processName, env: process.env, log });
}
