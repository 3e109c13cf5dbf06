import { dirname } from 'node:path/posix';
import { getProgram } from '../layers.ts';
import type { Remark, TidyRule } from '../rule.ts';
import type { Import, SourceFile } from '../tree.ts';

/** The files that may load modules of their own feature on demand. */
const BORDERS: readonly (readonly [path: RegExp, reason: string])[] = [
  [/\/lazy(?:-[a-z-]+)?\.ts$/, 'opens a feature at its first use'],
  [
    /^src\/entry\/cli\/(?:bin|command-ports|program|commands\/index)\.ts$/,
    'a command loads only its own modules',
  ],
  [/^src\/entry\/hook\/[a-z-]+\.ts$/, 'most hooks only ask the daemon'],
  [/^src\/coding-agents\/[a-z-]+\/index\.ts$/, 'a hook needs the dialect alone'],
  [/^src\/entry\/(?:llm\/index|mcp\/route|http\/events\/index)\.ts$/, 'routes load their transport'],
  [/^src\/features\/[a-z-]+\/feature\.ts$/, 'opens a feature at its first use'],
  [/^src\/features\/[a-z-]+\/command-list\.ts$/, 'a command loads only its own modules'],
  [/^src\/features\/(?:advisors|compliance|reported-decisions)\/operations\.ts$/, 'load all detectors'],
  [
    /^src\/server\/start\.ts$|^src\/entry\/cli\/serve-until-stopped\.ts$/,
    'the first worker is forked before',
  ],
  [/^src\/server\/(?:background-work|local|store)\.ts$/, 'load the query builder'],
  [/^src\/runtime\/audit\/open-index\.ts$/, 'a service has one kind of index'],
];

export const lazyBorders: TidyRule = {
  name: 'lazy-borders',
  reason:
    'Modules are loaded on demand at the border of a feature, and static imports are the rule within it.',
  examine: ({ sources }) =>
    getProgram(sources)
      .filter(({ path }) => !BORDERS.some(([border]) => border.test(path)))
      .flatMap((file) => listImportsWithin(file).map((each) => buildRemark(file, each))),
  refuses: [
    {
      files: {
        'src/features/costs/budgets.ts': "export const load = () => import('./store/prices.ts');",
        'src/features/costs/store/prices.ts': 'export const a = 1;',
      },
      remarks: 1,
    },
    { files: { 'src/runtime/audit/index.ts': "export const load = () => import('node:fs');" }, remarks: 1 },
    {
      files: {
        'src/entry/cli/setup/agents.ts': "export const load = () => import('./undo.ts');",
        'src/entry/cli/setup/undo.ts': 'export const a = 1;',
      },
      remarks: 1,
    },
  ],
  accepts: [
    {
      'src/features/costs/lazy-costs.ts': "export const load = () => import('./budgets.ts');",
      'src/features/costs/budgets.ts':
        "import type { Pool } from 'pg';\nexport const a = () => import('pg');",
      'src/server/runtime.ts': "export const load = () => import('../features/costs/budgets.ts');",
      'src/entry/cli/commands/setup.ts': "export const load = () => import('../setup/agents.ts');",
      'src/entry/cli/setup/agents.ts': 'export const a = 1;',
    },
  ],
};

/** Lists the modules that files load on demand within their own feature, at borders and elsewhere. */
export function listLazyImports(program: readonly SourceFile[]): readonly Import[] {
  return program.flatMap(listImportsWithin);
}

/** Lists the dynamic imports of a file's own feature, and of Node's own modules. */
function listImportsWithin({ path, imports }: SourceFile): readonly Import[] {
  const isWithin = (each: Import) =>
    each.path === null ? each.specifier.startsWith('node:') : getFeature(each.path) === getFeature(path);
  return imports.filter((each) => each.is_dynamic && !each.is_type && isWithin(each));
}

/** Returns the folder of a feature: the second below `src`, and each folder of the command line. */
function getFeature(path: string): string {
  const folder = dirname(path);
  return folder.startsWith('src/entry/cli') ? folder : folder.split('/').slice(0, 3).join('/');
}

function buildRemark({ path }: SourceFile, { line, specifier }: Import): Remark {
  return { path, line, message: `import ${specifier} statically` };
}
