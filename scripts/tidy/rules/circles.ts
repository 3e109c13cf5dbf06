import { circlesOf } from '../circles.ts';
import type { TidyRule } from '../rule.ts';

export const circles: TidyRule = {
  name: 'circles',
  reason: 'Files that import each other can only be read together.',
  examine: ({ sources }) =>
    circlesOf(sources).map((circle) => ({
      path: circle[0]!,
      line: 1,
      message: `is in a circle of imports: ${circle.join(', ')}`,
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
    { files: { 'src/core/a.ts': "export * from './a.ts';" }, remarks: 1 },
  ],
  accepts: [
    {
      'src/core/a.ts': "import './b.ts';\nimport './c.ts';",
      'src/core/b.ts': "import './c.ts';",
      'src/core/c.ts': '',
    },
  ],
};
