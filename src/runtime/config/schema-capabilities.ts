import { durationSchema } from '../../platform/schema-parts.ts';

/** `capability_tokens`: short-lived tokens that permit an agent one tool or the resolution of secrets. */
export const capabilityTokensSchema = {
  type: 'object',
  description:
    'Tokens that let one agent use one tool, or have secrets resolved, for a while. A change needs a restart.',
  additionalProperties: false,
  default: {},
  properties: {
    default_ttl: {
      ...durationSchema,
      default: '10m',
      description: 'Lifetime of a token if the request sets none.',
    },
    max_ttl: { ...durationSchema, default: '1h', description: 'How long any token may live.' },
    active_max: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000_000,
      default: 100_000,
      description: 'Tokens that may be live at one time; more are not issued.',
    },
  },
} as const;
