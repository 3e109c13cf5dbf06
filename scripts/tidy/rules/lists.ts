import type { Remark, TidyRule } from '../rule.ts';
import type { SourceFile, Tree } from '../tree.ts';

interface List {
  /** The file that contains the list. */
  readonly list: string;
  /** The files that must be in the list. */
  readonly members: RegExp;
}

/** Folders of plug-ins: every file is in the list, and every entry of the list is a file. */
export const lists: readonly List[] = [
  {
    list: 'src/core/detect/detectors/index.ts',
    members: /^src\/core\/detect\/detectors\/[a-z-]+\/[a-z0-9-]+\.ts$/,
  },
  {
    list: 'src/core/detect/commands/rules/index.ts',
    members: /^src\/core\/detect\/commands\/rules\/[a-z0-9-]+\.ts$/,
  },
  { list: 'src/core/policy/templates/index.ts', members: /^src\/core\/policy\/templates\/[a-z0-9-]+\.ts$/ },
  { list: 'src/core/wire/families/index.ts', members: /^src\/core\/wire\/families\/[a-z0-9-]+\.ts$/ },
  { list: 'src/core/wire/formats/index.ts', members: /^src\/core\/wire\/formats\/[a-z0-9-]+\.ts$/ },
  { list: 'src/drivers/alerts/index.ts', members: /^src\/drivers\/alerts\/(?!channel\.)[a-z0-9-]+\.ts$/ },
  { list: 'src/drivers/secrets/index.ts', members: /^src\/drivers\/secrets\/(?!backend\.)[a-z0-9-]+\.ts$/ },
  { list: 'src/entry/cli/feature-commands.ts', members: /^src\/features\/[a-z-]+\/command-list\.ts$/ },
  { list: 'src/entry/cli/commands/index.ts', members: /^src\/entry\/cli\/commands\/[a-z0-9-]+\.ts$/ },
  {
    list: 'src/coding-agents/index.ts',
    members: /^src\/coding-agents\/(?!record\/)[a-z0-9-]+\/index\.ts$/,
  },
  { list: 'src/server/features.ts', members: /^src\/features\/[a-z-]+\/feature\.ts$/ },
  { list: 'src/server/feature-operations.ts', members: /^src\/features\/[a-z-]+\/operation-list\.ts$/ },
  { list: 'src/server/feature-settings.ts', members: /^src\/features\/[a-z-]+\/settings\.ts$/ },
  { list: 'scripts/tidy/rules/index.ts', members: /^scripts\/tidy\/rules\/[a-z0-9-]+\.ts$/ },
];

export const listsAndFiles: TidyRule = {
  name: 'lists',
  reason: 'A plug that is in its folder and not in its list is never used, without a warning.',
  examine: (tree) => lists.flatMap((each) => compareList(each, tree)),
  refuses: [
    {
      files: {
        'src/core/policy/templates/index.ts': "import { a } from './a.ts';\nexport const templates = [a];",
        'src/core/policy/templates/a.ts': '',
        'src/core/policy/templates/b.ts': '',
      },
      remarks: 1,
    },
    {
      files: {
        'src/core/policy/templates/index.ts': "import { a } from './a.ts';\nimport type { B } from './b.ts';",
        'src/core/policy/templates/a.ts': '',
        'src/core/policy/templates/b.ts': '',
      },
      remarks: 1,
    },
    { files: { 'src/core/policy/templates/a.ts': '' }, remarks: 1 },
  ],
  accepts: [
    {
      'src/core/policy/templates/index.ts': "import { a } from './a.ts';\nexport const templates = [a];",
      'src/core/policy/templates/a.ts': '',
      'src/core/policy/templates/a.test.ts': '',
      'src/core/policy/templates/policy-pack.ts': 'export interface Template {}',
    },
    {
      'src/entry/cli/commands/index.ts': "export const commands = [() => import('./serve.ts')];",
      'src/entry/cli/commands/serve.ts': '',
    },
  ],
};

/**
 * Returns whether a file must be in a list. A file that exports only types defines the interface of the
 * plug-ins.
 */
export function isListed({ list, members }: List, { path, is_test, exports }: SourceFile): boolean {
  if (is_test || path === list || !members.test(path)) return false;
  return exports.length === 0 || exports.some(({ kind }) => kind !== 'type');
}

function compareList({ list, members }: List, { sources }: Tree): Remark[] {
  const files = sources.filter((each) => isListed({ list, members }, each));
  const holder = sources.find(({ path }) => path === list);
  const named = new Set(holder?.imports.flatMap((each) => (each.is_type ? [] : (each.path ?? []))));
  return files
    .filter(({ path }) => !named.has(path))
    .map(({ path }) => ({ path, line: 1, message: `is not in the list \`${list}\`` }));
}
