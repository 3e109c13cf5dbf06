import type { Tree } from './tree.ts';

/** One rule of the tree, with its own test cases. */
export interface TidyRule {
  readonly name: string;
  /** The reason for the rule, shown next to every remark. */
  readonly reason: string;
  readonly examine: (tree: Tree) => Remark[];
  /** Files, by path, that the rule must refuse, and the number of remarks. */
  readonly refuses: readonly { readonly files: Readonly<Record<string, string>>; readonly remarks: number }[];
  /** Files that the rule must accept. */
  readonly accepts: readonly Readonly<Record<string, string>>[];
}

export interface Remark {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}
