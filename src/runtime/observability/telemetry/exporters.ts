import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Config } from '../../config/index.ts';

type Settings = Config['telemetry'];

/** Loads the official packages on demand, so that they do not slow down a start without telemetry. */
export async function loadPackages() {
  const [api, resources, trace, metrics, { OTLPTraceExporter }, { OTLPMetricExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/exporter-metrics-otlp-http'),
  ]);
  return { api, resources, trace, metrics, OTLPTraceExporter, OTLPMetricExporter };
}
export type Packages = Awaited<ReturnType<typeof loadPackages>>;

/** Returns the settings of an exporter. It reads omitted ones from the environment. */
export function readExporterSettings(
  { endpoint, headers, timeout_ms }: Settings,
  signal: 'traces' | 'metrics',
): { url?: string; headers: Record<string, string>; timeoutMillis: number } {
  const at = endpoint === undefined ? {} : { url: `${endpoint.replace(/\/+$/, '')}/v1/${signal}` };
  return { ...at, headers: { ...headers }, timeoutMillis: timeout_ms };
}

/** Reports a batch that was not delivered, and reports success to the library, which would only log the error again. */
export function reportFailures<Exporter extends SpanExporter | PushMetricExporter>(
  exporter: Exporter,
  complain: (fault: unknown) => void,
): Exporter {
  const send = exporter.export.bind(exporter) as (items: never, done: Done) => void;
  exporter.export = (items: never, done: Done) =>
    send(items, (result) => {
      if (result.code !== SENT) complain(result.error);
      done({ code: SENT });
    });
  return exporter;
}

type Done = (result: { code: number; error?: Error }) => void;
/** `ExportResultCode.SUCCESS`. */
const SENT = 0;

/** Returns the collector's address without its path, query and user, which may be credentials. */
export function readCollectorOrigin({ endpoint }: Settings, env: TelemetryEnvironment): string {
  const address =
    endpoint ??
    env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ??
    env.OTEL_EXPORTER_OTLP_ENDPOINT ??
    DEFAULT_COLLECTOR;
  return URL.canParse(address) ? new URL(address).origin : 'an invalid address';
}

type TelemetryEnvironment = Readonly<Record<string, string | undefined>>;

const DEFAULT_COLLECTOR = 'http://localhost:4318';
