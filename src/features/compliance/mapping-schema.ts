import { Type } from '../../core/schema.ts';
import { FRAMEWORK_IDS } from '../../operations/compliance-frameworks.ts';
import { PERMISSIONS } from '../../runtime/config/permissions.ts';
import { EVENT_KINDS } from './event-kinds.ts';
import { PLACES } from './mapping-types.ts';
import { MECHANISMS } from './mechanisms.ts';

const sentence = Type.String({ minLength: 10, maxLength: 400, pattern: '^[A-Z`].*[.]$' });
const list = (items: object, more: object = {}) =>
  ({ type: 'array', uniqueItems: true, items, ...more }) as const;

const control = Type.Object(
  {
    control_id: Type.String({ minLength: 3, maxLength: 40 }),
    title: Type.String({ minLength: 4, maxLength: 80 }),
    requirement: sentence,
    coverage: Type.Enum(['full', 'part', 'none']),
    contribution: Type.Union([sentence, Type.Literal('')]),
    tags: list(
      Type.Object(
        {
          tag: Type.String({ pattern: '^[a-z][a-z0-9_]*(\\.[a-z0-9_]+)*$' }),
          places: list(Type.Enum(PLACES), { minItems: 1 }),
          expect: Type.Enum(['act', 'record']),
        },
        { additionalProperties: false },
      ),
    ),
    mechanisms: list(Type.Enum(Object.keys(MECHANISMS))),
    rules: list(Type.String({ pattern: '^builtin\\.[a-z]+\\.(\\*|[a-z]+(\\.[a-z]+)?)$' })),
    events: list(Type.Enum(EVENT_KINDS)),
    permissions: list(Type.Enum(PERMISSIONS)),
    settings: list(Type.String({ pattern: '^[a-z_]+(\\.[a-z_]+)*$' })),
    gaps: list(sentence),
  },
  { additionalProperties: false },
);

/** The JSON Schema (2020-12) of the files in `data/compliance`. */
export const MAPPING_SCHEMA = Type.Object(
  {
    framework: Type.Enum(FRAMEWORK_IDS),
    title: Type.String({ minLength: 3, maxLength: 80 }),
    edition: Type.String({ minLength: 4, maxLength: 160 }),
    reviewed: Type.String({ pattern: '^20\\d\\d-[01]\\d-[0-3]\\d$' }),
    sources: list(
      Type.Object(
        { title: Type.String({ minLength: 4 }), url: Type.String({ pattern: '^https://[^\\s]+$' }) },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
    scope: list(sentence, { minItems: 2 }),
    controls: list(control, { minItems: 5 }),
  },
  { additionalProperties: false },
);
