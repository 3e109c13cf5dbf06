import type { Static } from 'typebox';
import { buildSection, Type } from '../../core/schema.ts';
import { modelBackendSchema } from '../../operations/model-backend.ts';
import { defineConfigSection } from '../../runtime/config/sections.ts';

declare module '../../runtime/config/schema.ts' {
  interface FeatureSections {
    readonly intelligence: Static<typeof intelligenceSchema>;
  }
}

/** `intelligence`: the advisory model. */
const intelligenceSchema = buildSection(
  {
    enabled: Type.Boolean({ default: false, description: 'Off unless you switch it on.' }),
    backend: Type.Optional(modelBackendSchema),
    budget: buildSection(
      {
        calls_per_day: Type.Integer({
          minimum: 1,
          maximum: 100_000,
          default: 200,
          description: 'Advisor calls within 24 hours.',
        }),
        tokens_per_day: Type.Integer({
          minimum: 1_000,
          maximum: 1_000_000_000,
          default: 2_000_000,
          description: 'Tokens of prompts and answers within 24 hours, as the backend counts them.',
        }),
        answer_tokens_max: Type.Integer({
          minimum: 256,
          maximum: 131_072,
          default: 8_192,
          description:
            'Tokens of one answer. A longer answer is cut by the backend, and reported as an error.',
        }),
      },
      {
        description:
          'Limits of calls to the model, over all processes. A call above a limit is refused with 400 `budget_exceeded`.',
        default: {},
      },
    ),
  },
  {
    description:
      'The advisory layer. It never decides, and sees metadata only (docs/reference/intelligence.md). A change needs a restart.',
    default: {},
    'x-needs': [{ key: 'enabled', is: true, needs: 'backend' }],
  },
);

export const intelligenceSection = defineConfigSection({
  name: 'intelligence',
  after: 'mcp',
  schema: intelligenceSchema,
});
