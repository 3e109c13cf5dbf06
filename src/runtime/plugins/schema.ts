import { adaptersSchema, dialectsSchema, plugNameSchema as name } from '../adapters/schema.ts';
import { configSchema } from '../config/index.ts';

const TEMPLATES_MAX = 100;
const DRIVERS_MAX = 20;

const sentence = { type: 'string', minLength: 1, maxLength: 500 } as const;

/** What stands for a function in the records of a plug-in. */
export const FUNCTION_MARK = 'function';

/** What a plug-in exports: detectors as `detection.patterns` has them, policy packs, ways of asking, and drivers. */
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
    drivers: {
      type: 'array',
      maxItems: DRIVERS_MAX,
      items: {
        type: 'object',
        required: ['kind', 'name', 'open'],
        additionalProperties: false,
        properties: {
          kind: { enum: ['secrets'], description: 'The kind of driver.' },
          name,
          description: sentence,
          // The one thing that is code: the thread that loads a plug-in says only that it is there.
          open: { enum: [FUNCTION_MARK], 'x-expects': 'must be a function' },
        },
      },
    },
    dialects: dialectsSchema,
    adapters: adaptersSchema,
  },
} as const;
