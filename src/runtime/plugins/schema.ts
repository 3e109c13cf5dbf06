import { adaptersSchema, dialectsSchema, plugNameSchema as name } from '../adapters/schema.ts';
import { configSchema } from '../config/index.ts';

const TEMPLATES_MAX = 100;
const DRIVERS_MAX = 20;

const sentence = { type: 'string', minLength: 1, maxLength: 500 } as const;

/** The placeholder of a function in the records of a plug-in. */
export const FUNCTION_MARK = 'function';

/**
 * The schema of a plug-in's exports: detectors in the form of `detection.patterns`, policy packs, dialects,
 * adapters and drivers.
 */
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
          // The only field that is code. The thread that loads a plug-in reports only that it exists.
          open: { enum: [FUNCTION_MARK], 'x-expects': 'must be a function' },
        },
      },
    },
    dialects: dialectsSchema,
    adapters: adaptersSchema,
  },
} as const;
