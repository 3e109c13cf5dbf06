import type { ProseKind, ProseRemark } from './lint.ts';

/** Errors per top-level folder and kind of text. */
export type ErrorCounts = Readonly<Record<string, Readonly<Partial<Record<ProseKind, number>>>>>;

/** Counts the errors per top-level folder; a file at the root belongs to `.`. */
export function countErrors(remarks: readonly ProseRemark[]): ErrorCounts {
  const counts: Record<string, Partial<Record<ProseKind, number>>> = {};
  for (const { path, kind, is_error } of remarks) {
    if (!is_error) continue;
    const folder = path.includes('/') ? path.slice(0, path.indexOf('/')) : '.';
    counts[folder] ??= {};
    counts[folder][kind] = (counts[folder][kind] ?? 0) + 1;
  }
  return counts;
}

/** Compares counts with the committed allowance. Returns a sentence for each difference. */
export function compareWithAllowance(
  counts: ErrorCounts,
  allowance: ErrorCounts,
): { readonly rises: string[]; readonly falls: string[] } {
  const rises: string[] = [];
  const falls: string[] = [];
  for (const [folder, kind] of listCells(counts, allowance)) {
    const [count, allowed] = [counts[folder]?.[kind] ?? 0, allowance[folder]?.[kind] ?? 0];
    const sentence = `${folder} (${kind}) has ${count} errors, and ${allowed} are allowed.`;
    if (count > allowed) rises.push(sentence);
    if (count < allowed) falls.push(sentence);
  }
  return { rises, falls };
}

/** Lowers each allowance to the count. An allowance never rises. */
export function lowerAllowance(counts: ErrorCounts, allowance: ErrorCounts): ErrorCounts {
  const lowered: Record<string, Partial<Record<ProseKind, number>>> = {};
  for (const [folder, kind] of listCells(allowance, {})) {
    const count = Math.min(counts[folder]?.[kind] ?? 0, allowance[folder]![kind]!);
    if (count > 0) lowered[folder] = { ...lowered[folder], [kind]: count };
  }
  return lowered;
}

function listCells(one: ErrorCounts, other: ErrorCounts): [string, ProseKind][] {
  const folders = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
  return folders.flatMap((folder) => {
    const kinds = new Set([...Object.keys(one[folder] ?? {}), ...Object.keys(other[folder] ?? {})]);
    return [...kinds].sort().map((kind): [string, ProseKind] => [folder, kind as ProseKind]);
  });
}
