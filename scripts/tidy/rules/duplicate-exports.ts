import { getProgram } from '../layers.ts';
import type { Remark, TidyRule } from '../rule.ts';

export const duplicateExports: TidyRule = {
  name: 'duplicate exports',
  reason: 'An exported name exists once in `src`, so that a search for it finds one thing.',
  examine: ({ sources }) => {
    const paths = new Map<string, string>();
    const remarks: Remark[] = [];
    for (const { path, exports } of getProgram(sources)) {
      for (const { name, line } of exports) {
        const first = paths.get(name);
        if (first === undefined) paths.set(name, path);
        else if (first !== path) remarks.push({ path, line, message: `${first} exports \`${name}\` too` });
      }
    }
    return remarks;
  },
  refuses: [
    {
      files: {
        'src/core/a.ts': 'export const limit = 1;',
        'src/runtime/config/b.ts': 'export const limit = 2;',
      },
      remarks: 1,
    },
    {
      files: {
        'src/core/a.ts': 'export function parse() {}',
        'src/core/b.ts': 'export interface parse {}',
        'src/core/c.ts': 'export type parse = 1;',
      },
      remarks: 2,
    },
  ],
  accepts: [
    {
      'src/core/a.ts': 'export const limit = 1;',
      'src/core/b.ts': 'const limit = 2;',
      'src/core/b.test.ts': 'export const limit = 3;',
      'scripts/b.ts': 'export const limit = 4;',
    },
  ],
};
