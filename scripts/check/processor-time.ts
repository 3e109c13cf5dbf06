import { existsSync, readFileSync } from 'node:fs';

/** Returns the processor time of this process and its ended descendants in seconds; `null` where there is no `/proc`. */
export function readProcessorSeconds(): number | null {
  if (!existsSync('/proc/self/stat')) return null;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  // Hundredths of a second in user and system mode: first this process, then its ended descendants.
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}
