import type { Remark, TidyRule } from '../rule.ts';

const BANNED = /^(utils?|helpers?|manager|handlers?|common|misc|data|info|process|shared|lib)$/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|fresh|long|nightly|bench|config|d))*\.ts$/;

export const names: TidyRule = {
  name: 'names',
  reason: 'A name says what a thing is; a drawer name collects unrelated code.',
  examine: ({ sources }) =>
    sources.flatMap(({ path, classes }) => {
      const parts = path.split('/');
      const remarks: Remark[] = parts
        .map((part) => part.replace(/(\.test)?\.ts$/, ''))
        .filter((part) => BANNED.test(part))
        .map((part) => ({ path, line: 1, message: `\`${part}\` is a drawer; name the subject` }));
      if (!KEBAB.test(parts.at(-1)!)) remarks.push({ path, line: 1, message: 'file names are kebab-case' });
      for (const { name, line } of classes) {
        if (!/(Manager|Service|Handler|Helper|Utils?)$/.test(name)) continue;
        remarks.push({ path, line, message: `\`${name}\` says nothing of its subject` });
      }
      return remarks;
    }),
  refuses: [
    { files: { 'src/runtime/utils/a.ts': '' }, remarks: 1 },
    { files: { 'src/runtime/helpers.ts': '' }, remarks: 1 },
    { files: { 'src/runtime/dataStore.ts': '' }, remarks: 1 },
    { files: { 'src/runtime/a.ts': 'export class PolicyManager {}' }, remarks: 1 },
  ],
  accepts: [
    {
      'src/runtime/policy-store.ts': 'export class PolicyError extends Error {}',
      'tests/a.fresh.test.ts': '',
      'src/runtime/a.long.test.ts': '',
      'tests/a.nightly.test.ts': '',
    },
  ],
};
