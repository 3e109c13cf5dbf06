/** Runs the ways in which text could pass a guard. */
import assert from 'node:assert/strict';

/** Ways by name. Each rejects if text passes. */
export type Ways = Readonly<Record<string, () => Promise<void>>>;

/** Tries all ways, prints how many there are, and ends the process: with 0 if nothing passes. */
export async function tryWays(ways: Ways): Promise<void> {
  const failed: string[] = [];
  for (const [name, pass] of Object.entries(ways))
    await pass().catch((error: unknown) => failed.push(`${name}: ${error}`));
  console.log(`${Object.keys(ways).length} ways`);
  assert.deepEqual(failed, []);
  process.exit(0);
}
