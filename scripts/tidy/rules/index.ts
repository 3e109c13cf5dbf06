import type { TidyRule } from '../rule.ts';
import { arrows } from './arrows.ts';
import { circles } from './circles.ts';
import { classes } from './classes.ts';
import { corePurity } from './core-purity.ts';
import { docstrings } from './docstrings.ts';
import { leftovers } from './leftovers.ts';
import { listsAndFiles } from './lists.ts';
import { names } from './names.ts';
import { sizes } from './sizes.ts';
import { wholeSecrets } from './whole-secrets.ts';

/** The laws of the tree. */
export const rules: readonly TidyRule[] = [
  arrows,
  circles,
  classes,
  corePurity,
  docstrings,
  leftovers,
  listsAndFiles,
  names,
  sizes,
  wholeSecrets,
];
