import { configSchema } from '../config/index.ts';
import { adaptersSchema, dialectsSchema, plugName as name } from '../protocols/schema.ts';

const TEMPLATES_MAX = 100;

const sentence = { type: 'string', minLength: 1, maxLength: 500 } as const;

/** What a plug-in exports: detectors as `detection.patterns` has them, policy packs, and ways of asking. */
export const pluginSchema = {
  type: 'object',
  required: ['name', 'version'],
  additionalProperties: false,
  properties: {
    name,
    version: {
      type: 'string',
      maxLength: 100,
      pattern: '^[0-9]{1,9}\\.[0-9]{1,9}\\.[0-9]{1,9}(?:[-+][0-9A-Za-z.+-]{1,64})?$',
      'x-expects': 'must be a version of three numbers, such as `1.0.0`',
    },
    description: sentence,
    detectors: configSchema.properties.detection.properties.patterns,
    templates: {
      type: 'array',
      maxItems: TEMPLATES_MAX,
      items: {
        type: 'object',
        required: ['name', 'description', 'document'],
        additionalProperties: false,
        properties: { name, description: sentence, document: { type: 'object' } },
      },
    },
    dialects: dialectsSchema,
    adapters: adaptersSchema,
  },
} as const;
