import type { Policy } from '../../core/types/index.ts';
import type { PolicyResult } from './load-policy.ts';

/** The policy pack of each file next to a configuration, by the names that messages use. */
export type Packs = ReadonlyMap<string, string>;

/** Reads which files policy packs installed. Empty if no lock file can be read. */
export async function readPacks(baseDir: string): Promise<Packs> {
  const { readLock } = await import('../packages/lock-file.ts');
  const lock = await readLock(baseDir).catch(() => null);
  return new Map(
    Object.entries(lock?.skills ?? {}).flatMap(([name, { files }]) =>
      Object.keys(files).map((file) => [file, name] as const),
    ),
  );
}

/** Returns the pack of a document file, or `null` if no pack installed it. */
export function findPack(packs: Packs, file: string): string | null {
  return packs.get(file.replace(/#\d+$/, '')) ?? null;
}

/** Returns the file of the rule with a name, or `null` for a rule that is not in a document. */
export function findRuleFiles(
  policy: Policy,
  places: (PolicyResult & { readonly ok: true })['places'],
): (name: string) => string | null {
  const files = new Map(policy.rules.map((rule) => [rule.name, places.get(rule)?.file ?? null] as const));
  return (name) => files.get(name) ?? null;
}
