import { patternListSchema } from '../../platform/schema-parts.ts';

/** `plugins`: third-party detectors and templates. */
export const pluginsSectionSchema = {
  type: 'object',
  description:
    'Detectors and templates of other people’s making; see [guide](../how-to/write-plugins.md). Nothing is loaded that is not named here.',
  additionalProperties: false,
  default: {},
  properties: {
    files: {
      ...patternListSchema,
      default: [],
      description:
        'Files of JavaScript or TypeScript: names or patterns, relative to this file, for instance `plugins/*.mjs`.',
    },
    packages: {
      type: 'array',
      items: {
        type: 'string',
        maxLength: 214,
        pattern: '^(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$',
        'x-expects': 'must be the name of an npm package, as in `node_modules`',
      },
      maxItems: 100,
      default: [],
      description: 'npm packages that are installed in the folder of this file, or above it.',
    },
    timeout_ms: {
      type: 'integer',
      minimum: 100,
      maximum: 60_000,
      default: 5_000,
      description: 'How long a plug-in may take to give its records; one that takes longer is left out.',
    },
  },
} as const;
