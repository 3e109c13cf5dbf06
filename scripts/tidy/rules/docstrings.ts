import { getProgram } from '../layers.ts';
import type { TidyRule } from '../rule.ts';
import { isListed, lists } from './lists.ts';

/** Plug-ins in a list are exempt, because their records describe them. */
export const docstrings: TidyRule = {
  name: 'docstrings',
  reason: 'An exported function has a sentence about its input and its result.',
  examine: ({ sources }) =>
    getProgram(sources)
      .filter((each) => !lists.some((list) => isListed(list, each)))
      .flatMap(({ path, exports }) =>
        exports
          .filter(({ kind, documented }) => (kind === 'function' || kind === 'class') && !documented)
          .map(({ name, line }) => ({ path, line, message: `\`${name}\` is exported without a docstring` })),
      ),
  refuses: [
    { files: { 'src/core/a.ts': 'export function a() {}' }, remarks: 1 },
    { files: { 'src/core/a.ts': '// Not one of these.\nexport const a = () => 1;' }, remarks: 1 },
    {
      files: { 'src/core/a.ts': '/** Of another. */\nconst b = 1;\nexport class A extends Error {}' },
      remarks: 1,
    },
  ],
  accepts: [
    {
      'src/core/a.ts':
        '/** Says what it does. */\nexport function a() {}\nexport const B = 1;\nfunction c() {}',
    },
    { 'src/core/a.test.ts': 'export function a() {}' },
    { 'src/entry/cli/commands/a.ts': 'export function a() {}' },
  ],
};
