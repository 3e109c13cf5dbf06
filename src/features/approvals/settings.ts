// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import type { Static } from 'typebox';
import { buildSection, Type } from '../../core/schema.ts';
import { urlSchema } from '../../platform/schema-parts.ts';
import { checkWebhookAddress } from '../../runtime/config/address-checks.ts';
import { defineConfigSection } from '../../runtime/config/sections.ts';

declare module '../../runtime/config/schema.ts' {
  interface FeatureSections {
    readonly approvals: Static<typeof approvalsSchema>;
  }
}

const duration = Type.String({
  pattern: '^[1-9][0-9]{0,4}[smhdw]$',
  maxLength: 6,
  'x-expects': 'must be a duration: a whole number and one of `s`, `m`, `h`, `d`, `w`, such as `24h`',
});

const webhook = buildSection(
  {
    url: { ...urlSchema, description: 'Address of the receiver.' },
    secret: Type.String({
      minLength: 16,
      maxLength: 4096,
      'x-credential': true,
      description: 'Signs each message, as `${NAME}`. With `whsec_` before it, the rest is base64.',
    }),
    timeout_ms: Type.Integer({
      minimum: 100,
      maximum: 60_000,
      default: 5000,
      description: 'Time limit of one attempt, in milliseconds.',
    }),
    max_attempts: Type.Integer({
      minimum: 1,
      maximum: 20,
      default: 8,
      description: 'Attempts for one message, with growing pauses between them, before it is dropped.',
    }),
    allow_link_local: Type.Boolean({
      default: false,
      description: 'Allows a link-local address, where clouds serve credentials of machines.',
    }),
  },
  { description: 'Webhook that notifies approvers of requests by a signed POST.' },
);

/** `approvals`: requests for an operator's approval. */
const approvalsSchema = buildSection(
  {
    ttl_max: {
      ...duration,
      default: '24h',
      description:
        'Longest time in which a request can be approved and used. It limits `approval.ttl` of rules.',
    },
    pending_max: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 10_000,
      description:
        'Pending requests at one time. Above it, a call that needs approval is blocked without a request.',
    }),
    pending_per_agent_max: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 100,
      description: 'The same for one agent.',
    }),
    arguments_bytes_max: Type.Integer({
      minimum: 256,
      maximum: 1_048_576,
      default: 16_384,
      description: 'Bytes of the masked arguments that approvers see.',
    }),
    retention: {
      ...duration,
      default: '90d',
      description: 'Time for which a request is kept after it expired.',
    },
    second_factor_ttl: {
      ...duration,
      default: '10m',
      description: 'Greatest age of a second factor if a rule has `approval.require_second_factor`.',
    },
    grant_ttl_max: {
      ...duration,
      default: '24h',
      description: 'Longest lifetime of a grant, at most `30d`. A longer time counts as `30d`.',
    },
    grant_uses_max: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 100,
      description: 'Calls that one grant covers at most.',
    }),
    grants_per_agent_max: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 50,
      description: 'Active grants for one agent.',
    }),
    webhook: Type.Optional(webhook),
  },
  { description: 'Requests for a person’s approval. A change needs a restart.', default: {} },
);

export const approvalsSection = defineConfigSection({
  name: 'approvals',
  after: 'storage',
  schema: approvalsSchema,
  findProblems: ({ webhook }) =>
    webhook === undefined ? [] : checkWebhookAddress(webhook, ['webhook', 'url']),
});
