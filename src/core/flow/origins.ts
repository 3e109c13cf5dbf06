import { countSteps } from '../steps.ts';
import type { Label, ValuesSeen } from '../types/index.ts';
import type { JsonNode } from '../types/json.ts';
import { isTrivial, listLeaves, readLeaf, TRIVIAL } from './sinks.ts';
import { findValueLabels, listShownLabels } from './value-labels.ts';

/**
 * Returns the labels of all values in an argument, each once: `unknown` for a value that the session has not seen, and
 * `trivial` for one that carries nothing. A label that permits is among them only for a whole value.
 */
export function listOrigins(
  { text, node }: { readonly text: string; readonly node: JsonNode },
  seen: ValuesSeen,
): readonly Label[] {
  const labels = new Set<Label>();
  for (const leaf of listLeaves(node, null)) {
    countSteps(1);
    const { written, is_number } = readLeaf(leaf, text);
    if (isTrivial(leaf.node, written, null)) labels.add(TRIVIAL);
    else
      for (const { label } of listShownLabels(findValueLabels(written, is_number, seen), seen))
        labels.add(label);
  }
  return [...labels];
}
