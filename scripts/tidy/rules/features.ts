import { findFeature, getProgram } from '../layers.ts';
import type { TidyRule } from '../rule.ts';
import type { SourceFile } from '../tree.ts';

/** The files that name all features. */
export const FEATURE_LISTS: readonly string[] = [
  'src/server/features.ts',
  'src/server/feature-operations.ts',
  'src/server/feature-settings.ts',
  'src/entry/cli/feature-commands.ts',
];

export const features: TidyRule = {
  name: 'features',
  reason: 'A feature is removed with its folder and its lines in four lists (ARCHITECTURE.md).',
  examine: ({ sources }) => {
    const needs = readFeatureNeeds(sources);
    return getProgram(sources)
      .filter(({ path }) => !FEATURE_LISTS.includes(path))
      .flatMap(({ path, imports }) =>
        imports.flatMap(({ line, path: to }) => {
          const feature = findFeature(to ?? '');
          const own = findFeature(path);
          if (feature === null || feature === own) return [];
          if (own !== null && needs.get(own)?.includes(feature) === true) return [];
          return [{ path, line, message: `imports the feature ${feature}, which must be removable` }];
        }),
      );
  },
  refuses: [
    { files: { 'src/server/runtime.ts': "import { open } from '../features/costs/costs.ts';" }, remarks: 1 },
    { files: { 'src/server/jobs.ts': "const open = () => import('../features/costs/a.ts');" }, remarks: 1 },
    { files: { 'src/gateways/llm/a.ts': "import { b } from '../../features/memory/b.ts';" }, remarks: 1 },
    { files: { 'src/features/alerts/a.ts': "import { b } from '../memory/b.ts';" }, remarks: 1 },
    {
      files: {
        'src/features/costs/a.ts': "import { b } from '../memory/b.ts';",
        'src/features/costs/feature.ts': "export const costs = { needs: ['alerts'] };",
      },
      remarks: 1,
    },
  ],
  accepts: [
    { 'src/server/features.ts': "import { costsFeature } from '../features/costs/feature.ts';" },
    { 'src/features/costs/a.ts': "import { b } from './b.ts';" },
    {
      'src/features/evidence/a.ts': "import { b } from '../compliance/b.ts';",
      'src/features/evidence/feature.ts': "export const evidence = { needs: ['compliance'] };",
    },
  ],
};

/** Reads what each feature needs, by name, from its `feature.ts`. */
function readFeatureNeeds(sources: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const records = sources.filter(({ path }) => path.endsWith('/feature.ts') && findFeature(path) !== null);
  return new Map(
    records.map(({ path, text }) => {
      const list = /\bneeds: \[([^\]]*)\]/.exec(text)?.[1] ?? '';
      return [findFeature(path)!, [...list.matchAll(/'([^']+)'/g)].map(([, name = '']) => name)];
    }),
  );
}
