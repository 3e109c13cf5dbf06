import { collectNotations } from '../../src/core/detect/matching/scanner.ts';
import { isSerializedFrom } from '../../src/core/detect/matching/serialized-tree.ts';
import { anchorTree } from '../../src/core/detect/registry/anchor-tree.ts';
import { builtinFiles } from '../../src/core/detect/registry/builtin-detectors.ts';

/** Returns whether the generated tree of anchors is that of the detectors; an edit makes it stale until `npm run generate`. */
export function isTreeCurrent(): boolean {
  return isSerializedFrom(collectNotations(builtinFiles.flatMap((file) => file())), anchorTree);
}
