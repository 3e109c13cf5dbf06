import type { TidyRule } from '../rule.ts';

export const classes: TidyRule = {
  name: 'classes',
  reason: 'Records and functions; a class is an error.',
  examine: ({ sources }) =>
    sources.flatMap(({ path, classes: found }) =>
      found
        .filter(({ base }) => base === null || !/(Error|Refusal|Unavailable)$/.test(base))
        .map(({ name, line }) => ({ path, line, message: `\`${name}\` is a class that is no error` })),
    ),
  refuses: [
    { files: { 'src/core/a.ts': 'export class Detector {}' }, remarks: 1 },
    { files: { 'src/core/a.ts': 'export class A extends Base {}' }, remarks: 1 },
  ],
  accepts: [
    { 'src/core/a.ts': 'export class Refusal extends Error {}' },
    { 'src/core/a.ts': 'export class A extends Unavailable {}' },
  ],
};
