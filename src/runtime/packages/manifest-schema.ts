import { buildPathPattern, FILE_KINDS, type FileKind } from './kinds.ts';

/** The shape of `skill.yaml`, as plain JSON Schema (2020-12). */

/** The limit of files per kind in one skill. */
const FILES_MAX = 200;

const text = { type: 'string', minLength: 1, maxLength: 500 } as const;

/** The name by which a skill is added and removed. */
export const skillNameSchema = {
  type: 'string',
  pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
  maxLength: 64,
  'x-expects': 'must be a name of small letters and digits with single dashes between, such as `pci-dss`',
} as const;

/** The version of a skill. */
export const skillVersionSchema = {
  type: 'string',
  pattern: '^(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})(-[0-9A-Za-z.-]{1,64})?$',
  maxLength: 100,
  'x-expects': 'must be a version of three numbers, such as `1.0.0`',
} as const;

function getFiles(kind: FileKind) {
  const { folder, description } = kind;
  return {
    type: 'array',
    minItems: 1,
    maxItems: FILES_MAX,
    items: {
      type: 'string',
      maxLength: 200,
      pattern: buildPathPattern(kind),
      'x-expects': `must be a file right in \`${folder}\`, of small letters, digits, \`-\`, \`_\` and \`.\``,
    },
    description,
  } as const;
}

const skillSchema = {
  type: 'object',
  required: ['name', 'version', 'description'],
  properties: {
    name: { ...skillNameSchema, description: 'Name for `skills add` and `skills remove`.' },
    version: { ...skillVersionSchema, description: 'The version of the skill, not of the service.' },
    description: { ...text, description: 'Purpose of the skill, in a sentence.' },
    keywords: {
      type: 'array',
      maxItems: 30,
      items: { type: 'string', minLength: 1, maxLength: 50 },
      description: 'Search terms.',
    },
    license: { ...text, maxLength: 100, description: 'An SPDX identifier.' },
    homepage: {
      ...text,
      pattern: '^https?://[^\\s]+$',
      'x-expects': 'must be an address that begins with https://',
      description: 'URL of further information.',
    },
    service_min: { ...skillVersionSchema, description: 'The oldest version of the service that it is for.' },
    ...Object.fromEntries(FILE_KINDS.map((kind) => [kind.key, getFiles(kind)])),
  },
  patternProperties: { '^x-': true },
  additionalProperties: false,
};

/** The schema of a manifest: the format `version`, and the `skill`. */
export const manifestSchema = {
  type: 'object',
  required: ['version', 'skill'],
  properties: {
    version: { enum: ['v1alpha1'], description: 'The version of this format.' },
    skill: { ...skillSchema, description: 'The skill. Files that it does not list are not installed.' },
  },
  patternProperties: { '^x-': true },
  additionalProperties: false,
};
