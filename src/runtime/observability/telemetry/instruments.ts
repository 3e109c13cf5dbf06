import type { Attributes, Histogram, Meter } from '@opentelemetry/api';

/** The histograms, named by the GenAI conventions where they define a name. Times are in seconds. */
export interface Instruments {
  readonly tokens: Histogram;
  readonly call_seconds: Histogram;
  readonly first_chunk_seconds: Histogram;
  readonly check_seconds: Histogram;
}

/** Bucket bounds from the conventions. */
const TOKENS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];
const CALL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const CHUNK_SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Bounds from a short clean text to a check that waits for an operator's approval. */
const CHECK_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10];

/** Opens the histograms of one process. */
export function openInstruments(meter: Meter): Instruments {
  const histogram = (name: string, unit: string, description: string, bounds: number[]): Histogram =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: bounds } });
  return {
    tokens: histogram('gen_ai.client.token.usage', '{token}', 'Tokens of calls to providers.', TOKENS),
    call_seconds: histogram(
      'gen_ai.client.operation.duration',
      's',
      'Whole calls to providers, with the checks of what goes in and out.',
      CALL_SECONDS,
    ),
    first_chunk_seconds: histogram(
      'gen_ai.client.operation.time_to_first_chunk',
      's',
      'From the beginning of a streamed call to the first piece of its answer.',
      CHUNK_SECONDS,
    ),
    check_seconds: histogram(
      'customshouse.guardrail.duration',
      's',
      'Checks, until the decision is recorded.',
      CHECK_SECONDS,
    ),
  };
}

/** Removes attributes without a value, which the library would record as labels. */
export function dropUndefined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
