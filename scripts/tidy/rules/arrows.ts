import { roomOf, rooms } from '../rooms.ts';
import type { TidyRule } from '../rule.ts';

export const arrows: TidyRule = {
  name: 'arrows',
  reason:
    'A room imports only from the rooms on its left; operations and entry reach drivers through runtime.',
  examine: ({ sources }) =>
    sources.flatMap(({ path, imports }) => {
      const room = roomOf(path);
      if (room === null) return [];
      if (!Object.hasOwn(rooms, room)) {
        const where = room === '' ? 'stands in no room' : `stands in the unknown room \`${room}\``;
        return [{ path, line: 1, message: `${where}; the rooms are ${Object.keys(rooms).join(', ')}` }];
      }
      const allowed = [room, ...rooms[room]!];
      return imports
        .filter((each) => each.path !== null && !allowed.includes(roomOf(each.path) ?? 'outside of src'))
        .map(({ line, specifier }) => ({ path, line, message: `${room} must not import \`${specifier}\`` }));
    }),
  refuses: [
    { files: { 'src/core/a.ts': "import { b } from '../runtime/b.ts';" }, remarks: 1 },
    { files: { 'src/core/a.ts': "import type { B } from '../runtime/b.ts';" }, remarks: 1 },
    { files: { 'src/core/a.ts': "const b = await import('../runtime/b.ts');" }, remarks: 1 },
    { files: { 'src/core/a.ts': "export { b } from '../runtime/b.ts';" }, remarks: 1 },
    { files: { 'src/core/a.ts': "export type B = import('../runtime/b.ts').B;" }, remarks: 1 },
    { files: { 'src/entry/http/a.ts': "import { b } from '../../drivers/b.ts';" }, remarks: 1 },
    { files: { 'src/runtime/a.ts': "import { b } from '../../tests/support/b.ts';" }, remarks: 1 },
    { files: { 'src/helpers/a.ts': '' }, remarks: 1 },
    { files: { 'src/a.ts': '' }, remarks: 1 },
  ],
  accepts: [
    { 'src/runtime/a.ts': "import { b } from '../core/b.ts';\nimport { c } from '../drivers/stores/c.ts';" },
    { 'src/entry/cli/a.ts': "import { b } from './b.ts';\nimport { readFileSync } from 'node:fs';" },
    { 'tests/a.test.ts': "import { b } from '../src/runtime/b.ts';" },
  ],
};
