import { StartFailure } from '../platform/failure.ts';
import type { Log } from '../platform/log.ts';
import type { Config } from '../runtime/config/index.ts';
import type { Telemetry } from '../runtime/observability/telemetry/types.ts';

/** The packages that telemetry needs. They are not dependencies of the service. */
const PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/exporter-metrics-otlp-http',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace',
] as const;

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
  const missing = PACKAGES.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  const message = `needs packages that are not installed; install them next to the service with \`npm install ${missing.join(' ')}\``;
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
  process_name: string,
  log: Log,
): Promise<Telemetry | null> {
  if (!telemetry.enabled) return null;
  const { openTelemetry } = await import('../runtime/observability/telemetry/telemetry.ts');
  return openTelemetry({ settings: telemetry, version, process_name, env: process.env, log });
}
