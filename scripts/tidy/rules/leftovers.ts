import type { TidyRule } from '../rule.ts';

/** Concatenated here, so that the rule does not match this file. */
const LATER = new RegExp(`\\b(${['TO', 'DO|FIX', 'ME|X', 'XX'].join('')})\\b`);
const PARKED = /\b(test|it|describe|suite)\.(only|skip|todo)\b/;

export const leftovers: TidyRule = {
  name: 'leftovers',
  reason: 'Unfinished code is not kept; a disabled test proves nothing.',
  examine: ({ sources }) =>
    sources.flatMap(({ path, text, names, is_test }) => {
      const lines = text.split('\n');
      const later = lines.flatMap((line, at) => (LATER.test(line) ? [at + 1] : []));
      const parked = is_test ? names.filter(({ name }) => PARKED.test(name)) : [];
      return [
        ...later.map((line) => ({
          path,
          line,
          message: 'a note for later; do it now or write down why not',
        })),
        ...parked.map(({ line, name }) => ({ path, line, message: `\`${name}\` switches tests off` })),
      ];
    }),
  refuses: [
    { files: { 'src/core/a.ts': `// ${'TO'}${'DO'}: later` }, remarks: 1 },
    { files: { 'src/core/a.test.ts': "test.only('a', () => {});" }, remarks: 1 },
    { files: { 'tests/a.test.ts': "test.skip('a', () => {});\ntest.todo('b');" }, remarks: 2 },
  ],
  accepts: [
    { 'src/core/a.ts': '// Nothing is left to do here.', 'src/core/a.test.ts': "test('a', () => {});" },
  ],
};
