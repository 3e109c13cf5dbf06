import { type ApiFamily, isUsualRetryStatus } from '../api-family.ts';

export const anthropicFamily = {
  name: 'anthropic',
  label: 'Anthropic',
  telemetry_name: 'anthropic',
  public_base_url: 'https://api.anthropic.com',
  key_header: ['x-api-key', ''],
  request_id_header: 'request-id',
  isRetryableStatus: isUsualRetryStatus,
  known_paths: /^(?:\/v1)*\/(?:messages|complete|skills)(?:\/|$)/,
  unserved_paths: /(?:^|\/v\d[^/]*)\/messages\/batches$/i,
} as const satisfies ApiFamily;
