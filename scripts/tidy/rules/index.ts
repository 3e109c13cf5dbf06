import type { TidyRule } from '../rule.ts';
import { casts } from './casts.ts';
import { classes } from './classes.ts';
import { corePurity } from './core-purity.ts';
import { cycles } from './cycles.ts';
import { docstrings } from './docstrings.ts';
import { duplicateExports } from './duplicate-exports.ts';
import { features } from './features.ts';
import { layers } from './layers.ts';
import { lazyBorders } from './lazy-borders.ts';
import { leftovers } from './leftovers.ts';
import { lightStart } from './light-start.ts';
import { listsAndFiles } from './lists.ts';
import { names } from './names.ts';
import { wholeSecrets } from './whole-secrets.ts';

/** The rules of the tree. */
export const rules: readonly TidyRule[] = [
  layers,
  casts,
  cycles,
  classes,
  corePurity,
  docstrings,
  duplicateExports,
  features,
  lazyBorders,
  leftovers,
  lightStart,
  listsAndFiles,
  names,
  wholeSecrets,
];
