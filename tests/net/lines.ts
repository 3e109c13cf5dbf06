import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DATA = join(import.meta.dirname, 'data');
const SHOWN_MAX = 40;

/** Returns the path of a data file. */
export function getDataPath(name: string): string {
  return join(DATA, name);
}

/**
 * Compares a text with a data file. Returns the lines that are gone (`-`) and those that are new (`+`), at most 40; empty
 * if both are alike.
 */
export function compareWithData(name: string, text: string): readonly string[] {
  const path = getDataPath(name);
  const kept = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (kept === text) return [];
  const [before, after] = [kept.split('\n'), text.split('\n')];
  const changes = [
    ...subtract(before, after).map((line) => `- ${line}`),
    ...subtract(after, before).map((line) => `+ ${line}`),
  ];
  const shown = changes.length === 0 ? ['The same lines are in another order.'] : changes.slice(0, SHOWN_MAX);
  return [`tests/net/data/${name}: ${changes.length} changed lines; \`npm run net\` writes them`, ...shown];
}

/** Returns the lines of `lines` that `others` lacks; a line that is there more often counts as often. */
function subtract(lines: readonly string[], others: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const left = counts.get(line) ?? 0;
    counts.set(line, left - 1);
    return left <= 0;
  });
}

/** Returns one line for each value inside a JSON value, sorted: `violations[0].type "pii_detected"`. */
export function flattenValue(value: unknown, path = ''): readonly string[] {
  const isEmpty = typeof value !== 'object' || value === null || Object.keys(value).length === 0;
  if (isEmpty) return [`${path} ${JSON.stringify(value)}`];
  if (Array.isArray(value)) return value.flatMap((each, at) => flattenValue(each, `${path}[${at}]`));
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, each]) => flattenValue(each, path === '' ? name : `${path}.${name}`));
}

/** Returns the values of a record that differ from the usual one, and `PATH absent` for those that only it has. */
export function listDeviations(record: unknown, usual: unknown): readonly string[] {
  const [own, expected] = [flattenValue(record), flattenValue(usual)];
  const paths = new Set(own.map(getPath));
  return [
    ...own.filter((line) => !expected.includes(line)),
    ...expected.flatMap((line) => (paths.has(getPath(line)) ? [] : [`${getPath(line)} absent`])),
  ];
}

function getPath(line: string): string {
  return line.slice(0, line.indexOf(' '));
}
