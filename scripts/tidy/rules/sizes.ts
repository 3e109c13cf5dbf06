import type { TidyRule } from '../rule.ts';

const FILE_LINES_MAX = 500;
/** Tables of cases may be longer, because they are read one row at a time. */
const TEST_LINES_MAX = 600;
const FUNCTION_LINES_MAX = 60;

export const sizes: TidyRule = {
  name: 'sizes',
  reason: 'A function fits a screen, and a file has one subject.',
  examine: ({ sources }) =>
    sources.flatMap(({ path, text, functions, is_test }) => {
      const lines = text.split('\n').length - 1;
      const lines_max = is_test ? TEST_LINES_MAX : FILE_LINES_MAX;
      const big = is_test ? [] : functions.filter((each) => each.lines > FUNCTION_LINES_MAX);
      return [
        ...(lines > lines_max
          ? [{ path, line: 1, message: `has ${lines} lines, more than ${lines_max}` }]
          : []),
        ...big.map((each) => ({
          path,
          line: each.line,
          message: `a function of ${each.lines} lines, more than ${FUNCTION_LINES_MAX}`,
        })),
      ];
    }),
  refuses: [
    { files: { 'src/core/a.ts': '\n'.repeat(501), 'src/core/a.test.ts': '\n'.repeat(601) }, remarks: 2 },
    { files: { 'src/core/a.ts': `export function a() {${'\n'.repeat(61)}}\n` }, remarks: 1 },
  ],
  accepts: [
    { 'src/core/a.ts': '\n'.repeat(500) },
    { 'src/core/a.ts': `export function a() {${'\n'.repeat(59)}}\n` },
    { 'src/core/a.test.ts': `test('a', () => {${'\n'.repeat(100)}});\n` },
  ],
};
