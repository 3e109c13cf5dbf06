import { buildSection, Type } from '../../core/schema.ts';
import { durationSchema } from '../../platform/schema-parts.ts';

/** `capability_tokens`: short-lived tokens that permit an agent one tool or the resolution of secrets. */
export const capabilityTokensSchema = buildSection(
  {
    default_ttl: {
      ...durationSchema,
      default: '10m',
      description: 'Lifetime of a token if the request sets none.',
    },
    max_ttl: { ...durationSchema, default: '1h', description: 'Longest lifetime of a token.' },
    active_max: Type.Integer({
      minimum: 1,
      maximum: 10_000_000,
      default: 100_000,
      description: 'Active tokens at one time; no further ones are issued.',
    }),
  },
  {
    description:
      'Tokens that allow one agent to use one tool or to resolve secrets for a limited time. A change needs a restart.',
    default: {},
  },
);
