import type { Attributes, Span } from '@opentelemetry/api';
import { getApiFamily } from '../../../core/wire/families/index.ts';
import { sanitizeName } from '../labels.ts';
import { buildIdentityAttributes } from './guardrail.ts';
import { dropUndefined, type Instruments } from './instruments.ts';
import type { CallEnd, CallResponse, CallStart } from './types.ts';

/** Well-known names that a configured provider keeps in `gen_ai.provider.name`, instead of the name of its family. */
const PROVIDERS: ReadonlySet<string> = new Set([
  ...['aws.bedrock', 'azure.ai.openai', 'azure.ai.inference', 'gcp.vertex_ai', 'gcp.gen_ai', 'cohere'],
  ...['deepseek', 'groq', 'ibm.watsonx.ai', 'mistral_ai', 'moonshot_ai', 'perplexity', 'x_ai'],
]);

/** Builds the attributes that are known before a call is sent. */
export function buildCallAttributes(requested: CallStart): Attributes {
  return {
    'gen_ai.operation.name': requested.operation,
    'gen_ai.provider.name': getApiFamily(requested.family).telemetry_name,
    'gen_ai.request.model': sanitizeOptionalName(requested.model),
    'gen_ai.request.max_tokens': requested.max_output_tokens ?? undefined,
    'gen_ai.request.stream': requested.is_stream || undefined,
    ...buildIdentityAttributes(requested),
  };
}

/** Records one call from start to end, with a monotonic clock. */
export interface CallRecord {
  readonly setModel: (model: string | null) => void;
  readonly answered: (answer: CallResponse) => void;
  readonly chunk: () => void;
  readonly end: (end: CallEnd) => void;
}

/**
 * Opens the record of the span and the metrics of one call.
 *
 * @param modelLabel - limits the number of models that become labels
 * @param failed - marks a span as failed
 */
export function openCallRecord(
  requested: CallStart,
  span: Span,
  instruments: Instruments,
  modelLabel: (model: string) => string,
  failed: (span: Span) => void,
): CallRecord {
  const beganMs = performance.now();
  const labels: { -readonly [Name in keyof Attributes]: Attributes[Name] } = {
    'gen_ai.operation.name': requested.operation,
    'gen_ai.provider.name': getApiFamily(requested.family).telemetry_name,
    'gen_ai.request.model': requested.model === null ? undefined : modelLabel(requested.model),
  };
  let firstChunkSeconds: number | null = null;
  let isOver = false;
  return {
    setModel: (model) => {
      if (isOver || model === null) return;
      const label = modelLabel(model);
      labels['gen_ai.request.model'] = label;
      span.setAttribute('gen_ai.request.model', sanitizeName(model));
      span.updateName(`${requested.operation} ${label}`);
    },
    answered: ({ provider, model, status, attempts }) => {
      if (isOver) return;
      if (PROVIDERS.has(provider)) labels['gen_ai.provider.name'] = provider;
      if (model !== null) labels['gen_ai.request.model'] = modelLabel(model);
      span.setAttributes({
        'gen_ai.provider.name': labels['gen_ai.provider.name'],
        'gen_ai.request.model': sanitizeOptionalName(model) ?? labels['gen_ai.request.model'],
        'http.response.status_code': status,
        'customshouse.provider': provider,
        'customshouse.attempts': attempts,
      });
    },
    chunk: () => {
      if (isOver || !requested.is_stream || firstChunkSeconds !== null) return;
      firstChunkSeconds = computeSecondsSince(beganMs);
      span.setAttribute('gen_ai.response.time_to_first_chunk', firstChunkSeconds);
    },
    end: (end) => {
      if (isOver) return;
      isOver = true;
      if (end.error !== null) failed(span);
      span.setAttributes(buildEndAttributes(end));
      span.end();
      if (end.model !== null) labels['gen_ai.response.model'] = modelLabel(end.model);
      if (end.error !== null) labels['error.type'] = end.error;
      recordMeasurements(
        dropUndefined(labels),
        end,
        computeSecondsSince(beganMs),
        firstChunkSeconds,
        instruments,
      );
    },
  };
}

function recordMeasurements(
  labels: Attributes,
  { usage }: CallEnd,
  seconds: number,
  firstChunkSeconds: number | null,
  { call_seconds, first_chunk_seconds: first, tokens }: Instruments,
): void {
  call_seconds.record(seconds, labels);
  if (firstChunkSeconds !== null) first.record(firstChunkSeconds, labels);
  if (usage === null) return;
  tokens.record(usage.input_tokens, { ...labels, 'gen_ai.token.type': 'input' });
  tokens.record(usage.output_tokens, { ...labels, 'gen_ai.token.type': 'output' });
}

function buildEndAttributes({ error, id, model, finish_reasons, usage, micro_usd }: CallEnd): Attributes {
  return {
    'error.type': error ?? undefined,
    'gen_ai.response.id': sanitizeOptionalName(id),
    'gen_ai.response.model': sanitizeOptionalName(model),
    'gen_ai.response.finish_reasons':
      finish_reasons.length === 0 ? undefined : finish_reasons.slice(0, REASONS_MAX).map(sanitizeName),
    'gen_ai.usage.input_tokens': usage?.input_tokens,
    'gen_ai.usage.output_tokens': usage?.output_tokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.cache_read_tokens,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cache_write_tokens,
    'customshouse.cost.usd': micro_usd === null ? undefined : micro_usd / 1_000_000,
  };
}

const REASONS_MAX = 16;

/** Sanitizes a name. An attribute that is `undefined` is omitted. */
function sanitizeOptionalName(name: string | null): string | undefined {
  return name === null ? undefined : sanitizeName(name);
}

function computeSecondsSince(beganMs: number): number {
  return (performance.now() - beganMs) / 1_000;
}
