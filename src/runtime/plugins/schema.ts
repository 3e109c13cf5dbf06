import type { Static } from 'typebox';
import { Type } from '../../core/schema.ts';
import type { Json } from '../../core/types/index.ts';
import { adaptersSchema, dialectsSchema, plugNameSchema as name } from '../adapters/schema.ts';
import { spineSchema } from '../config/index.ts';

const TEMPLATES_MAX = 100;
const DRIVERS_MAX = 20;

const sentence = Type.String({ minLength: 1, maxLength: 500 });

/** The placeholder of a function in the records of a plug-in. */
export const FUNCTION_MARK = 'function';

/**
 * The schema of a plug-in's exports: detectors in the form of `detection.patterns`, policy packs, dialects,
 * adapters and drivers.
 */
export const pluginSchema = Type.Object(
  {
    name,
    version: Type.String({
      maxLength: 100,
      pattern: '^[0-9]{1,9}\\.[0-9]{1,9}\\.[0-9]{1,9}(?:[-+][0-9A-Za-z.+-]{1,64})?$',
      'x-expects': 'must be a version of three numbers, such as `1.0.0`',
    }),
    description: Type.Optional(sentence),
    detectors: Type.Optional(spineSchema.properties.detection.properties.patterns),
    templates: Type.Optional(
      Type.Array(
        Type.Object(
          { name, description: sentence, document: Type.Unsafe<Json>({ type: 'object' }) },
          { additionalProperties: false },
        ),
        { maxItems: TEMPLATES_MAX },
      ),
    ),
    drivers: Type.Optional(
      Type.Array(
        Type.Object(
          {
            kind: Type.Enum(['secrets'], { description: 'The kind of driver.' }),
            name,
            description: Type.Optional(sentence),
            // The only field that is code. The thread that loads a plug-in reports only that it exists.
            open: Type.Enum([FUNCTION_MARK], { 'x-expects': 'must be a function' }),
          },
          { additionalProperties: false },
        ),
        { maxItems: DRIVERS_MAX },
      ),
    ),
    dialects: Type.Optional(dialectsSchema),
    adapters: Type.Optional(adaptersSchema),
  },
  { additionalProperties: false },
);

/** A plug-in as exported, after its shape was checked. */
export type WrittenPlugin = Static<typeof pluginSchema>;
