/**
 * Realistic files in which nearly every offset could begin a number or a key, and few do: tables, logs,
 * dumps, checksums. They are the same in every run.
 */

const HEX = '0123456789abcdef';
const DIGITS = '0123456789';
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const BASE64 = `${LETTERS.toUpperCase()}${LETTERS}${DIGITS}+/`;

/** Returns the texts by name, each of exactly `units` UTF-16 units. */
export function denseTexts(units: number): Readonly<Record<string, string>> {
  const { below, some } = source();
  const many = (count: number, one: () => string, between: string): string =>
    Array.from({ length: count }, one).join(between);
  const clock = (): string => `${10 + below(14)}:${10 + below(50)}:${10 + below(50)}`;
  const lines: Readonly<Record<string, () => string>> = {
    'short numbers, CSV': () => many(12, () => `${below(100_000)}`, ','),
    'long numbers, CSV': () => many(6, () => some(DIGITS, 8 + below(9)), ','),
    'decimals, CSV': () => many(8, () => (below(1_000_000) / 1000).toFixed(3), ', '),
    'numbers of 9 to 11 digits, TSV': () => `${some(DIGITS, 11)}\t${some(DIGITS, 9)}\t${some(DIGITS, 10)}`,
    'numbers of 9 to 11 digits, columns of spaces': () => many(6, () => some(DIGITS, 9 + below(3)), ' '),
    'numbers of 12 to 19 digits, columns of spaces': () => many(6, () => some(DIGITS, 12 + below(8)), ' '),
    'numbers of 13 digits, JSON': () =>
      `{"id":${1 + below(9)}${some(DIGITS, 12)},"at":${1 + below(9)}${some(DIGITS, 12)}},`,
    'numbers of 11 and 14 digits, dots and dashes': () =>
      `${some(DIGITS, 3)}.${some(DIGITS, 3)}.${some(DIGITS, 3)}-${some(DIGITS, 2)} ${some(DIGITS, 2)}.${some(DIGITS, 3)}.${some(DIGITS, 3)}/${some(DIGITS, 4)}-${some(DIGITS, 2)}`,
    'numbers with dashes': () =>
      many(5, () => `${some(DIGITS, 3)}-${some(DIGITS, 3)}-${some(DIGITS, 4)}`, ' '),
    'groups of four digits': () => many(15, () => some(DIGITS, 4), ' '),
    'groups of two and three digits': () => many(18, () => some(DIGITS, 2 + below(2)), ' '),
    'dates and sums': () =>
      `${1900 + below(130)}-${10 + below(3)}-${10 + below(18)};${below(100_000)}.${10 + below(90)};${10 + below(18)}.${10 + below(3)}.${1990 + below(40)}`,
    'list of files': () =>
      `-rw-r--r-- 1 user staff ${below(10_000_000)} ${10 + below(18)} Nov ${clock()} ${some(LETTERS, 7)}.${some(LETTERS, 2)}`,
    'letters and digits': () =>
      many(7, () => `${some(LETTERS.toUpperCase(), 2 + below(3))}${some(DIGITS, 6 + below(4))}`, ','),
    'lines of digits': () => some(DIGITS, 76),
    'hex dump': () => `${some(HEX, 8)}  ${many(16, () => some(HEX, 2), ' ')}  |................|`,
    'SHA-256 sums': () => `${some(HEX, 64)}  file${below(1000)}.txt`,
    'commit ids': () => `${some(HEX, 40)} refs/tags/v${below(10)}.${below(10)}`,
    'base64, lines': () => some(BASE64, 76),
    UUIDs: () => [8, 4, 4, 4, 12].map((count) => some(HEX, count)).join('-'),
    'access log': () =>
      `${many(4, () => `${below(256)}`, '.')} - - [21/Nov/2026:${clock()} +0000] "GET /a/${below(1000)} HTTP/1.1" 200 ${below(10_000)}`,
    'service log': () =>
      `2026-11-${10 + below(20)}T${clock()}.${100 + below(900)}Z INFO worker[${below(9999)}] id=${some(HEX, 16)} took ${below(999)}ms`,
    'minified code': () =>
      `function ${some(LETTERS, 2)}(e,t){return e.${some(LETTERS, 4)}(t)||"${some(LETTERS, 6)}"+t.${some(LETTERS, 3)}("${some(LETTERS, 4)}")?1:0}`,
    'paths of a drawing': () =>
      `M${below(999)}.${below(99)} ${below(999)}L${below(999)} ${below(999)}c${below(9)}-${below(9)}`,
    'lock file': () =>
      `"node_modules/${some(LETTERS, 8)}":{"version":"${below(9)}.${below(9)}.${below(9)}","integrity":"sha512-${some(BASE64, 86)}=="},`,
    contacts: () =>
      `${some(LETTERS, 6)} ${some(LETTERS, 8)},${some(LETTERS, 5)}@${some(LETTERS, 6)}.org,+49 30 ${some(DIGITS, 7)},${10 + below(18)}.0${1 + below(9)}.19${10 + below(90)}`,
    'accounts and cards': () =>
      `DE${some(DIGITS, 20)};4${some(DIGITS, 3)} ${some(DIGITS, 4)} ${some(DIGITS, 4)} ${some(DIGITS, 4)};${some(DIGITS, 10)}`,
    'settings with keys': () =>
      `${some(LETTERS, 5).toUpperCase()}_API_KEY=${some(BASE64, 32)}\n${some(LETTERS, 4)}.password = "${some(BASE64, 12)}"`,
    'addresses of machines': () => many(4, () => many(4, () => `${below(256)}`, '.'), ' '),
    'random words': () => many(12, () => some(LETTERS, 2 + below(8)), ' '),
    'random signs': () => some('!"#$%&()*+,-./:;<=>?@[]^_{|}~ ', 60),
  };
  const texts = Object.entries(lines).map(([name, line]) => {
    let text = '';
    while (text.length < units) text += `${line()}\n`;
    return [name, Buffer.from(text.slice(0, units)).toString()] as const;
  });
  return Object.fromEntries(texts);
}

/** Returns a source of numbers that look random and are the same in every run. */
function source() {
  let state = 7;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const some = (letters: string, count: number): string =>
    Array.from({ length: count }, () => letters[below(letters.length)]).join('');
  return { below, some };
}
