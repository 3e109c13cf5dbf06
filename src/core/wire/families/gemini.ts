import type { ApiFamily } from '../api-family.ts';

const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export const geminiFamily = {
  name: 'gemini',
  label: 'Gemini',
  telemetry_name: 'gcp.gemini',
  public_base_url: 'https://generativelanguage.googleapis.com',
  key_header: ['x-goog-api-key', ''],
  isRetryableStatus: (status: number) => RETRYABLE_STATUSES.has(status),
  known_paths: /^\/(?:upload\/)?v1(?:beta|alpha)\//,
  unserved_paths:
    /:(?:batchGenerateContent|predict|predictLongRunning|rawPredict|streamRawPredict|generateAnswer|generateMessage|generateText|bidiGenerateContent|countTokens|(?:async)?batchEmbedContents?|embedContent)$/i,
} as const satisfies ApiFamily;
