import type { Remark, TidyRule } from '../rule.ts';
import type { Import, Tree } from '../tree.ts';

/** The modules with which a process of the service starts. */
const START_MODULES = ['src/entry/http/worker.ts', 'src/server/bring-up.ts', 'src/server/background-work.ts'];
/**
 * Modules that those must not load before a request needs them, because each brings along a hundred others or
 * more. Node's `http` loads `fetch` when a module imports it by name, because one of its exports needs it.
 */
const HEAVY_MODULES = [
  'src/core/detect/commands/rules/index.ts',
  'src/core/detect/detectors/index.ts',
  'src/core/advisors/instructions.ts',
  'typebox',
  'undici',
  'node:http',
];

export const lightStart: TidyRule = {
  name: 'light-start',
  reason: 'A process of the service starts without what only some requests need: import it with `import()`.',
  examine: (tree) => START_MODULES.flatMap((start) => findHeavyImports(start, tree)),
  refuses: [
    {
      files: {
        'src/entry/http/worker.ts': "import { a } from './a.ts';",
        'src/entry/http/a.ts': "import { b } from '../../core/detect/detectors/index.ts';",
        'src/core/detect/detectors/index.ts': 'export const b = 1;',
      },
      remarks: 1,
    },
    { files: { 'src/server/bring-up.ts': "import { Compile } from 'typebox/schema';" }, remarks: 1 },
    { files: { 'src/entry/http/worker.ts': "import { ServerResponse } from 'node:http';" }, remarks: 1 },
  ],
  accepts: [
    {
      'src/entry/http/worker.ts':
        "import type { ServerResponse } from 'node:http';\nexport const load = () => import('./a.ts');",
      'src/entry/http/a.ts': "import { Compile } from 'typebox/schema';\nexport { Compile };",
    },
  ],
};

/** Returns a remark for each static import of a heavy module that a start reaches. */
function findHeavyImports(start: string, { sources }: Tree): Remark[] {
  const files = new Map(sources.map((file) => [file.path, file]));
  const reached = new Set([start]);
  const remarks: Remark[] = [];
  for (const path of reached) {
    for (const each of (files.get(path)?.imports ?? []).filter(isLoadedAtStart)) {
      if (isHeavy(each))
        remarks.push({ path, line: each.line, message: `\`${start}\` loads ${each.specifier}` });
      else if (each.path !== null) reached.add(each.path);
    }
  }
  return remarks;
}

function isLoadedAtStart({ is_type, is_dynamic }: Import): boolean {
  return !(is_type || is_dynamic);
}

function isHeavy({ specifier, path }: Import): boolean {
  return HEAVY_MODULES.some(
    (name) => path === name || specifier === name || specifier.startsWith(`${name}/`),
  );
}
