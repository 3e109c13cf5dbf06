import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Meter, Span, Tracer } from '@opentelemetry/api';
import { PACKAGE_NAME } from '../../../core/names.ts';
import type { Log } from '../../../platform/log.ts';
import type { Config } from '../../config/index.ts';
import { limitNames } from '../labels.ts';
import { buildCallAttributes, type CallRecord, openCallRecord } from './call-span.ts';
import {
  loadPackages,
  type Packages,
  readCollectorOrigin,
  readExporterSettings,
  reportFailures,
} from './exporters.ts';
import { buildFindingEvents, buildGuardrailAttributes, classifyOutcome } from './guardrail.ts';
import { type Instruments, openInstruments } from './instruments.ts';
import { buildSampler } from './sampler.ts';
import { parseCallerSpan, replaceTraceHeaders } from './trace-context.ts';
import type { CallSpan, CallStart, CheckRecord, Telemetry } from './types.ts';

export interface TelemetryParts {
  readonly settings: Config['telemetry'];
  readonly version: string;
  /** The name of the process, such as `worker-1`. */
  readonly process_name: string;
  /** The environment, for the standard variables `OTEL_*` that the exporters do not read themselves. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Pick<Log, 'warn'>;
}

/** Opens telemetry; `null` if it is disabled. Loads the packages. */
export async function openTelemetry(parts: TelemetryParts): Promise<Telemetry | null> {
  const { settings, env } = parts;
  if (!settings.enabled || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null;
  const packages = await loadPackages();
  const providers = openProviders(parts, packages);
  const { tracer, meter } = providers;
  return createTelemetry({
    packages,
    tracer,
    instruments: openInstruments(meter),
    hash_key: settings.content_hash_key ?? null,
    close: () => Promise.race([providers.close(), sleep(settings.flush_ms, undefined, { ref: false })]),
  });
}

const SCOPE = PACKAGE_NAME;
/** The maximum number of models that become labels; others are `other`. */
const MODELS_MAX = 200;
const COMPLAINT_MS = 60_000;

interface Providers {
  readonly tracer: Tracer;
  readonly meter: Meter;
  readonly close: () => Promise<void>;
}

function openProviders(parts: TelemetryParts, packages: Packages): Providers {
  const { settings, version } = parts;
  const { trace, metrics, OTLPTraceExporter, OTLPMetricExporter } = packages;
  const complain = createComplainer(parts.log, readCollectorOrigin(settings, parts.env));
  const resource = getResource(parts, packages);
  const { timeout_ms, interval_ms, queue_spans_max } = settings;
  const processor = () =>
    new trace.BatchSpanProcessor({
      exporter: reportFailures(new OTLPTraceExporter(readExporterSettings(settings, 'traces')), complain),
      maxQueueSize: queue_spans_max,
      maxExportBatchSize: Math.min(queue_spans_max, BATCH_SPANS_MAX),
      exportTimeoutMillis: timeout_ms,
    });
  const reader = () =>
    new metrics.PeriodicExportingMetricReader({
      exporter: reportFailures(new OTLPMetricExporter(readExporterSettings(settings, 'metrics')), complain),
      exportIntervalMillis: interval_ms,
      exportTimeoutMillis: Math.min(timeout_ms, interval_ms),
    });
  const tracers = new trace.TracerProvider({
    resource,
    sampler: settings.traces ? buildSampler(parts.env, packages) : new trace.AlwaysOffSampler(),
    spanProcessors: settings.traces ? [processor()] : [],
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_UNITS_MAX },
  });
  const meters = new metrics.MeterProvider({ resource, readers: settings.metrics ? [reader()] : [] });
  return {
    tracer: tracers.getTracer(SCOPE, version),
    meter: meters.getMeter(SCOPE, version),
    close: async () => {
      const closed = await Promise.allSettled([tracers.shutdown(), meters.shutdown()]);
      for (const each of closed) if (each.status === 'rejected') complain(each.reason);
    },
  };
}

const BATCH_SPANS_MAX = 512;
const ATTRIBUTE_UNITS_MAX = 1_024;

function getResource({ settings, version, process_name }: TelemetryParts, { resources }: Packages) {
  const own = resources.resourceFromAttributes({
    'service.name': SCOPE,
    'service.version': version,
    'service.instance.id': randomUUID(),
    'customshouse.process': process_name,
    'process.pid': process.pid,
  });
  const { resourceAttributesEnvDetector, serviceNameEnvDetector } = resources;
  const detected = resources.detectResources({
    detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector],
  });
  const named =
    settings.service_name === undefined
      ? resources.emptyResource()
      : resources.resourceFromAttributes({ 'service.name': settings.service_name });
  return own.merge(detected).merge(named);
}

/** Limits log messages to one per minute, because every batch fails while a collector is down. Omits its response. */
function createComplainer(log: Pick<Log, 'warn'>, collector: string): (fault: unknown) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (fault) => {
    const now = performance.now();
    if (now - lastMs < COMPLAINT_MS) return;
    lastMs = now;
    const { name, code } = (fault ?? {}) as { name?: unknown; code?: unknown };
    const fields = { collector, fault: String(name ?? 'unknown'), code: String(code ?? '') };
    log.warn('telemetry could not be sent', fields);
  };
}

interface Watch {
  readonly packages: Packages;
  readonly tracer: Tracer;
  readonly instruments: Instruments;
  readonly hash_key: string | null;
  readonly close: () => Promise<void>;
}

function createTelemetry(watch: Watch): Telemetry {
  const { api } = watch.packages;
  const current = new AsyncLocalStorage<Context>();
  const modelLabel = limitNames(MODELS_MAX);
  const here = (): Context => current.getStore() ?? api.ROOT_CONTEXT;
  return {
    within: (headers, run) => {
      const span = parseCallerSpan(headers, api.createTraceState);
      return span === null ? run() : current.run(api.trace.setSpanContext(api.ROOT_CONTEXT, span), run);
    },
    recordCheck: (check) => ignoreErrors(() => recordCheck(check, here(), watch)),
    startCall: (request) => {
      const begun = ignoreErrors(() => beginCall(request, here(), watch, modelLabel));
      return begun === undefined ? UNHEARD : callSpan(begun, current);
    },
    close: watch.close,
  };
}

/** Suppresses errors of telemetry, which must not affect a decision. */
function ignoreErrors<Result>(action: () => Result): Result | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

function recordCheck(
  check: CheckRecord,
  parent: Context,
  { packages, tracer, instruments, hash_key }: Watch,
): void {
  const { api } = packages;
  const { verdict, component } = check;
  const outcome = classifyOutcome(verdict);
  const tookMs = performance.now() - check.began_ms;
  const endedMs = Date.now();
  const startTime = endedMs - tookMs;
  const span = tracer.startSpan(`run_guardrail ${component}`, { startTime }, parent);
  if (span.isRecording()) {
    span.setAttributes(buildGuardrailAttributes(check, outcome, hash_key));
    for (const { attributes } of buildFindingEvents(verdict))
      span.addEvent('gen_ai.guardrail.security.finding', attributes, endedMs);
    if (verdict.fault) {
      span.setAttribute('error.type', verdict.rule);
      span.setStatus({ code: api.SpanStatusCode.ERROR });
    }
  }
  span.end(endedMs);
  instruments.check_seconds.record(tookMs / 1_000, {
    'gen_ai.guardrail.component.name': component,
    'gen_ai.guardrail.verdict.type': outcome.verdict,
    'gen_ai.guardrail.action.type': outcome.action,
  });
}

interface Begun {
  readonly span: Span;
  readonly context: Context;
  readonly record: CallRecord;
}

function beginCall(
  request: CallStart,
  parent: Context,
  { packages: { api }, tracer, instruments }: Watch,
  modelLabel: (model: string) => string,
): Begun {
  const name =
    request.model === null ? request.operation : `${request.operation} ${modelLabel(request.model)}`;
  const options = { kind: api.SpanKind.CLIENT, attributes: buildCallAttributes(request) };
  const span = tracer.startSpan(name, options, parent);
  const failed = (one: Span): void => void one.setStatus({ code: api.SpanStatusCode.ERROR });
  const record = openCallRecord(request, span, instruments, modelLabel, failed);
  return { span, context: api.trace.setSpan(parent, span), record };
}

function callSpan({ span, context, record }: Begun, current: AsyncLocalStorage<Context>): CallSpan {
  return {
    within: (run) => current.run(context, run),
    headersFor: (headers) => replaceTraceHeaders(headers, span.spanContext()),
    setModel: (model) => ignoreErrors(() => record.setModel(model)),
    answered: (answer) => ignoreErrors(() => record.answered(answer)),
    chunk: () => ignoreErrors(record.chunk),
    end: (end) => ignoreErrors(() => record.end(end)),
  };
}

const UNHEARD: CallSpan = {
  within: (run) => run(),
  headersFor: (headers) => headers,
  setModel: () => {},
  answered: () => {},
  chunk: () => {},
  end: () => {},
};
