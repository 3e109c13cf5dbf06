import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A collector that receives OTLP over HTTP in JSON and keeps what the official exporters send. */
export interface Collector {
  readonly url: string;
  readonly spans: () => readonly ReceivedSpan[];
  /** Returns the points of all received metrics, newest last. */
  readonly points: () => readonly ReceivedPoint[];
  readonly requests: readonly {
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
  }[];
  /** Resolves when `enough` returns true. */
  readonly until: (enough: () => boolean) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface ReceivedSpan {
  readonly name: string;
  /** 1 internal, 3 client. */
  readonly kind: number;
  readonly trace_id: string;
  readonly span_id: string;
  /** Empty without a parent. */
  readonly parent_id: string;
  /** 2 is an error. */
  readonly status: number;
  readonly took_ms: number;
  readonly attributes: Values;
  readonly events: readonly { readonly name: string; readonly attributes: Values }[];
  readonly resource: Values;
}

export interface ReceivedPoint {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Values;
  readonly count: number;
  readonly sum: number;
  readonly resource: Values;
}

type Values = Readonly<Record<string, unknown>>;

/** Starts a collector. `answer` replaces the successful response. */
export async function startCollector(
  answer: (response: ServerResponse) => void = acceptExport,
): Promise<Collector> {
  const requests: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const waiting: { enough: () => boolean; resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      answer(response);
      for (const one of waiting) if (one.enough()) one.resolve();
    });
  });
  // A test that fails early must not keep the process alive.
  server.unref();
  server.on('connection', (socket) => socket.unref());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bodies = (path: string) =>
    requests.filter((one) => one.path === path).map(({ body }) => JSON.parse(body));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () => bodies('/v1/traces').flatMap(getSpans),
    points: () => bodies('/v1/metrics').flatMap(getPoints),
    until: (enough) => {
      if (enough()) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ enough, resolve }));
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function acceptExport(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}
interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
}

function getValues(attributes: readonly KeyValue[] = []): Values {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, toPlainValue(value)]));
}

function toPlainValue({ stringValue, intValue, doubleValue, boolValue, arrayValue }: AnyValue): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(toPlainValue);
  return stringValue ?? boolValue ?? doubleValue ?? Number(intValue);
}

/** The part of the protocol that is read here. */
interface SpanData {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status?: { readonly code?: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly events?: readonly { readonly name: string; readonly attributes?: readonly KeyValue[] }[];
}
interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly SpanData[] }[];
  }[];
}
interface PointData {
  readonly attributes?: readonly KeyValue[];
  readonly count: string | number;
  readonly sum: number;
}
interface Measures {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string;
        readonly unit: string;
        readonly histogram: { readonly dataPoints: readonly PointData[] };
      }[];
    }[];
  }[];
}

function getSpans({ resourceSpans }: Traces): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => getSpan(span, getValues(resource.attributes)))),
  );
}

const NS_PER_MS = 1_000_000n;

function getSpan(span: SpanData, resource: Values): ReceivedSpan {
  const tookNs = BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano);
  return {
    name: span.name,
    kind: span.kind,
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_id: span.parentSpanId ?? '',
    status: span.status?.code ?? 0,
    took_ms: Number(tookNs / NS_PER_MS),
    attributes: getValues(span.attributes),
    events: (span.events ?? []).map(({ name, attributes }) => ({ name, attributes: getValues(attributes) })),
    resource,
  };
}

function getPoints({ resourceMetrics }: Measures): ReceivedPoint[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ name, unit, histogram }) =>
        histogram.dataPoints.map(({ attributes, count, sum }) => ({
          name,
          unit,
          attributes: getValues(attributes),
          count: Number(count),
          sum,
          resource: getValues(resource.attributes),
        })),
      ),
    ),
  );
}
