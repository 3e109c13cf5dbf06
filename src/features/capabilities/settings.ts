import type { Static } from 'typebox';
import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import { buildSection, Type } from '../../core/schema.ts';
import { durationSchema } from '../../platform/schema-parts.ts';
import { defineConfigSection } from '../../runtime/config/sections.ts';

declare module '../../runtime/config/schema.ts' {
  interface FeatureSections {
    readonly capability_tokens: Static<typeof capabilityTokensSchema>;
  }
}

/** `capability_tokens`: short-lived tokens that permit an agent one tool or the resolution of secrets. */
const capabilityTokensSchema = buildSection(
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

export const capabilityTokensSection = defineConfigSection({
  name: 'capability_tokens',
  after: 'secrets',
  schema: capabilityTokensSchema,
  findProblems: ({ default_ttl, max_ttl }) =>
    parseDurationMs(default_ttl) <= parseDurationMs(max_ttl)
      ? []
      : [{ steps: ['default_ttl'], message: 'is longer than `max_ttl`' }],
});
