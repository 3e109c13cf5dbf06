import { FRAMEWORK_IDS } from '../../operations/compliance-frameworks.ts';
import { PERMISSIONS } from '../../runtime/config/permissions.ts';
import { EVENT_KINDS } from './event-kinds.ts';
import { PLACES } from './mapping-types.ts';
import { MECHANISMS } from './mechanisms.ts';

const sentence = { type: 'string', minLength: 10, maxLength: 400, pattern: '^[A-Z`].*[.]$' } as const;
const list = (items: object, more: object = {}) =>
  ({ type: 'array', uniqueItems: true, items, ...more }) as const;

const control = {
  type: 'object',
  additionalProperties: false,
  required: [
    'control_id',
    'title',
    'requirement',
    'coverage',
    'contribution',
    'tags',
    'mechanisms',
    'rules',
    'events',
    'permissions',
    'settings',
    'gaps',
  ],
  properties: {
    control_id: { type: 'string', minLength: 3, maxLength: 40 },
    title: { type: 'string', minLength: 4, maxLength: 80 },
    requirement: sentence,
    coverage: { enum: ['full', 'part', 'none'] },
    contribution: { anyOf: [sentence, { const: '' }] },
    tags: list({
      type: 'object',
      additionalProperties: false,
      required: ['tag', 'places', 'expect'],
      properties: {
        tag: { type: 'string', pattern: '^[a-z][a-z0-9_]*(\\.[a-z0-9_]+)*$' },
        places: list({ enum: PLACES }, { minItems: 1 }),
        expect: { enum: ['act', 'record'] },
      },
    }),
    mechanisms: list({ enum: Object.keys(MECHANISMS) }),
    rules: list({ type: 'string', pattern: '^builtin\\.[a-z]+\\.(\\*|[a-z]+(\\.[a-z]+)?)$' }),
    events: list({ enum: EVENT_KINDS }),
    permissions: list({ enum: PERMISSIONS }),
    settings: list({ type: 'string', pattern: '^[a-z_]+(\\.[a-z_]+)*$' }),
    gaps: list(sentence),
  },
} as const;

/** The JSON Schema (2020-12) of the files in `data/compliance`. */
export const MAPPING_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['framework', 'title', 'edition', 'reviewed', 'sources', 'scope', 'controls'],
  properties: {
    framework: { enum: FRAMEWORK_IDS },
    title: { type: 'string', minLength: 3, maxLength: 80 },
    edition: { type: 'string', minLength: 4, maxLength: 160 },
    reviewed: { type: 'string', pattern: '^20\\d\\d-[01]\\d-[0-3]\\d$' },
    sources: list(
      {
        type: 'object',
        additionalProperties: false,
        required: ['title', 'url'],
        properties: {
          title: { type: 'string', minLength: 4 },
          url: { type: 'string', pattern: '^https://[^\\s]+$' },
        },
      },
      { minItems: 1 },
    ),
    scope: list(sentence, { minItems: 2 }),
    controls: list(control, { minItems: 5 }),
  },
} as const;
