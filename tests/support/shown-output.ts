/** Compares output with what pages show. */

/**
 * Returns whether an output is what a page shows. `...` is any text, and alone in a line any lines. Numbers, IDs, times and folders may
 * differ.
 */
export function matchesShown(printed: string, shown: string): boolean {
  const lines = shown.split('\n').map((line) => (line.trim() === '...' ? '[^]*' : `${toPattern(line)}\n`));
  return new RegExp(`^${lines.join('')}$`).test(normalise(`${printed.trimEnd()}\n`));
}

function toPattern(line: string): string {
  return normalise(line)
    .split('...')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('.*');
}

function normalise(text: string): string {
  return text
    .replaceAll(/(?<![a-z\d])([a-z]{3,4}_)[0-9a-f]{20,}/g, '$1ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b[0-9a-f]{12,}\b/g, 'HASH')
    .replaceAll(/(?:\/[\w.-]+)+\/(?=[\w.-]+)/g, '/')
    .replaceAll(/\d[\d,]*/g, '0')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/ $/gm, '');
}
