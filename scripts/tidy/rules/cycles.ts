import { findFolderCycles } from '../cycles.ts';
import { getProgram } from '../layers.ts';
import type { TidyRule } from '../rule.ts';

export const cycles: TidyRule = {
  name: 'cycles',
  reason: 'In every folder the imports among its children (files and folders) must have no cycle.',
  examine: ({ sources }) =>
    findFolderCycles(getProgram(sources)).map(({ folder, children, example }) => ({
      path: example,
      line: 1,
      message: `is part of a cycle in ${folder || 'the root'}: ${children.join(', ')}`,
    })),
  refuses: [
    {
      files: {
        'src/core/a.ts': "import './b.ts';",
        'src/core/b.ts': "import './c.ts';",
        'src/core/c.ts': "import './a.ts';",
      },
      remarks: 1,
    },
    {
      files: {
        'src/core/a.ts': "import type { B } from './b.ts';",
        'src/core/b.ts': "import type { A } from './a.ts';",
      },
      remarks: 1,
    },
    {
      files: {
        'src/core/x/a.ts': "import '../y/b.ts';",
        'src/core/x/c.ts': '',
        'src/core/y/b.ts': '',
        'src/core/y/d.ts': "import '../x/c.ts';",
      },
      remarks: 1,
    },
    { files: { 'src/core/a.ts': "import './x/b.ts';", 'src/core/x/b.ts': "import '../a.ts';" }, remarks: 1 },
    { files: { 'src/core/a.ts': "export * from './a.ts';" }, remarks: 1 },
  ],
  accepts: [
    {
      'src/core/a.ts': "import './b.ts';\nimport './c.ts';",
      'src/core/b.ts': "import './c.ts';",
      'src/core/c.ts': '',
    },
    {
      'src/core/x/a.ts': "import '../y/b.ts';",
      'src/core/y/b.ts': '',
      'src/core/y/d.test.ts': "import '../x/a.ts';",
    },
  ],
};
