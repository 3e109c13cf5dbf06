/**
 * Letters that look like ASCII: those that Unicode normalises to ASCII (fullwidth, mathematical, circled,
 * superscript), and Cyrillic, Greek, Armenian and Latin look-alikes. The pairs are from Unicode's confusables
 * (UTS 39), limited to those that a reader mistakes for the letter inside a word.
 */

const LOOKALIKES: readonly (readonly [string, string])[] = [
  ['аеорсухіјѕԁһӏԛԝѵкмтвнгьпиԍ', 'aeopcyxijsdhlqwvkmtbhrbnug'],
  ['АВЕКМНОРСТУХІЈЅԌԚԜѴЗЬбҮԀ', 'ABEKMHOPCTYXIJSGQWV3b6YD'],
  ['αονρικυχτεγωηѡ', 'aovpikuxteywnw'],
  ['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϜ', 'ABEZHIKMNOPTYXF'],
  ['օսոհզցքո', 'ounhqgpn'],
  ['ɑɡıɩʟɴʀꜱᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢ', 'agiilnrsacdejkmoptuvwz'],
  ['‐‑‒–—−﹣‚‘’‛“”„‟′″⁄∕∶꞉․﹍', '-------,\'\'\'""""\'"//::._'],
];

const folded = new Map<number, string>(
  LOOKALIKES.flatMap(([from, to]) =>
    [...from].map((letter, at) => [letter.codePointAt(0)!, to[at]!] as const),
  ),
);

const FOLDED_UNITS_MAX = 4;

/**
 * Returns the ASCII reading of a code point beyond ASCII; the code point itself if it has none. Combining
 * marks become an empty text.
 */
export function foldToAscii(point: number): string {
  const known = folded.get(point);
  if (known !== undefined) return known;
  const letter = String.fromCodePoint(point);
  const plain = letter.normalize('NFKC');
  const reads = isMark(point) ? '' : plain.length <= FOLDED_UNITS_MAX ? plain : letter;
  if (folded.size < CACHED_MAX) folded.set(point, reads);
  return reads;
}

/** The bound of the cache's memory, for any texts. */
const CACHED_MAX = 20_000;

function isMark(point: number): boolean {
  return (point >= 0x300 && point <= 0x36f) || (point >= 0x20d0 && point <= 0x20f0);
}

/**
 * Invisible characters of one unit, control characters included, in anchor notation. Tag characters and
 * variation selectors are surrogate pairs.
 */
export const INVISIBLE =
  '[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]';

/** Look-alikes of one unit that have no other use. */
export const COMPATIBLE = '[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u24b6-\u24e9\u1d00-\u1d2b]';

/** First units of the pairs of mathematical letters (U+1D400) and enclosed ones (U+1F100). */
export const COMPATIBLE_PAIR = '[\ud835]';

/** Look-alikes that do not belong in words of ASCII letters. */
export const LOOKALIKE =
  '[\u0300-\u036f\u0370-\u052f\u0561-\u0587\u0251\u0261\u0269\u026a\u0274\u0280\u029f]';

/** First unit of the pairs of tag characters (U+E0000) and variation selectors (U+E0100). */
export const TAG_PAIR = '\udb40';

/** The code points of the digit zero in other scripts; the digits one to nine follow (Unicode, category Nd). */
const LOCAL_ZEROS = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
  0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50,
  0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0,
];

/** Digits of other scripts, in anchor notation. */
export const LOCAL_DIGIT = `[${LOCAL_ZEROS.map((zero) => `${String.fromCharCode(zero)}-${String.fromCharCode(zero + 9)}`).join('')}]`;

const LOCAL_DIGITS: ReadonlyMap<number, string> = new Map(
  LOCAL_ZEROS.flatMap((zero) =>
    Array.from({ length: 10 }, (_, digit) => [zero + digit, String(digit)] as const),
  ),
);

/** Returns the ASCII digit of a digit of another script; `undefined` for other units. */
export function readLocalDigit(unit: number): string | undefined {
  return LOCAL_DIGITS.get(unit);
}
