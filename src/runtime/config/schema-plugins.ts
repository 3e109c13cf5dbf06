import { buildSection, Type } from '../../core/schema.ts';
import { patternListSchema } from '../../platform/schema-parts.ts';

/** `plugins`: third-party detectors and templates. */
export const pluginsSectionSchema = buildSection(
  {
    files: {
      ...patternListSchema,
      default: [],
      description:
        'Files of JavaScript or TypeScript: names or patterns, relative to this file, for instance `plugins/*.mjs`.',
    },
    packages: Type.Array(
      Type.String({
        maxLength: 214,
        pattern: '^(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$',
        'x-expects': 'must be the name of an npm package, as in `node_modules`',
      }),
      {
        maxItems: 100,
        default: [],
        description: 'npm packages that are installed in the folder of this file, or above it.',
      },
    ),
    timeout_ms: Type.Integer({
      minimum: 100,
      maximum: 60_000,
      default: 5_000,
      description:
        'Time in milliseconds in which a plug-in must return its records; a slower one is not loaded.',
    }),
  },
  {
    description:
      'Detectors, templates and drivers from plug-ins; see [guide](../how-to/write-plugins.md). Only the plug-ins named here are loaded.',
    default: {},
  },
);
