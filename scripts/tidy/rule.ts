import type { Tree } from './tree.ts';

/** One law of the tree, with its own proof. */
export interface TidyRule {
  readonly name: string;
  /** Why it is a law: shown beside every remark. */
  readonly reason: string;
  readonly examine: (tree: Tree) => Remark[];
  /** Files, by path, that it must refuse; and how many remarks that takes. */
  readonly refuses: readonly { readonly files: Readonly<Record<string, string>>; readonly remarks: number }[];
  /** Files that it must leave alone. */
  readonly accepts: readonly Readonly<Record<string, string>>[];
}

export interface Remark {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}
