import type { PublicKeyRecord } from './keys.ts';

/**
 * Returns the ID of a log: that of the first key, which all later ones descend from; `null` without a public key. It
 * stays the same when keys rotate or the machine gets another name.
 */
export function findLogId(keys: readonly PublicKeyRecord[]): string | null {
  const [root] = keys
    .filter(({ endorsed_by }) => endorsed_by === null)
    .toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1));
  return root?.key_id ?? null;
}
