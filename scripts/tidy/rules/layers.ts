import { getLayer, importProblem, LAYERS } from '../layers.ts';
import type { TidyRule } from '../rule.ts';

export const layers: TidyRule = {
  name: 'layers',
  reason: 'A layer imports only from the layers before it (ARCHITECTURE.md).',
  examine: ({ sources }) =>
    sources.flatMap(({ path, imports, is_test }) => {
      const layer = getLayer(path);
      if (layer === null) return [];
      if (layer === '')
        return [{ path, line: 1, message: `is in no layer; the layers are ${LAYERS.join(', ')}` }];
      if (is_test) return [];
      return imports.flatMap(({ line, path: to }) => {
        const problem = to === null ? null : importProblem(path, to);
        return problem === null ? [] : [{ path, line, message: problem }];
      });
    }),
  refuses: [
    { files: { 'src/core/a.ts': "import { b } from '../runtime/audit/b.ts';" }, remarks: 1 },
    { files: { 'src/core/a.ts': "import type { B } from '../platform/b.ts';" }, remarks: 1 },
    { files: { 'src/core/a.ts': "const b = await import('../server/b.ts');" }, remarks: 1 },
    { files: { 'src/core/a.ts': "export { b } from '../drivers/b.ts';" }, remarks: 1 },
    { files: { 'src/core/a.ts': "export type B = import('../features/b.ts').B;" }, remarks: 1 },
    { files: { 'src/runtime/audit/a.ts': "import { b } from '../policies/b.ts';" }, remarks: 1 },
    { files: { 'src/sdk/a.ts': "import { b } from '../platform/b.ts';" }, remarks: 1 },
    { files: { 'src/entry/a.ts': "import { b } from '../sdk/b.ts';" }, remarks: 1 },
    { files: { 'src/runtime/audit/a.ts': "import { b } from '../../../tests/support/b.ts';" }, remarks: 1 },
    { files: { 'src/helpers/a.ts': '' }, remarks: 1 },
    { files: { 'src/runtime/a.ts': '' }, remarks: 1 },
    { files: { 'src/a.ts': '' }, remarks: 1 },
  ],
  accepts: [
    { 'src/runtime/audit/a.ts': "import { b } from '../../core/b.ts';\nimport { c } from '../config/c.ts';" },
    { 'src/features/costs/a.ts': "import { b } from '../../operations/b.ts';\nimport { c } from './c.ts';" },
    { 'src/sdk/a.ts': "import { b } from '../core/b.ts';" },
    { 'src/entry/cli/a.ts': "import { b } from './b.ts';\nimport { readFileSync } from 'node:fs';" },
    { 'src/runtime/audit/a.test.ts': "import { b } from '../../server/b.ts';" },
    { 'tests/a.test.ts': "import { b } from '../src/server/b.ts';" },
  ],
};
