import { type ApiFamily, isUsualRetryStatus } from '../api-family.ts';

export const openAiFamily = {
  name: 'openai',
  label: 'OpenAI',
  telemetry_name: 'openai',
  public_base_url: 'https://api.openai.com/v1',
  key_header: ['authorization', 'Bearer '],
  isRetryableStatus: isUsualRetryStatus,
  known_paths:
    /^(?:\/openai)?(?:\/v1)*(?:\/(?:openai|deployments|engines)\/[^/]{1,256})?(?:\/v1)*\/(?:assistants|audio|batches|chat|completions|containers|conversations|embeddings|evals|files|fine_tuning|images|models|moderations|realtime|rerank|responses|threads|uploads|vector_stores|videos)(?:\/|$)/,
  unserved_paths:
    /(?:^|\/v\d[^/]*)\/(?:batches|responses\/compact|realtime(?:\/.*)?|threads\/runs|threads\/[^/]+\/runs|images\/[a-z]+|audio\/[a-z]+|videos|fine_tuning\/jobs|rerank)$/i,
} as const satisfies ApiFamily;
