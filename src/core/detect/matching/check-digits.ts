/**
 * Check-digit algorithms of national numbers. All take ASCII digits (letters where stated) without separators and run
 * in linear time. A character that is not a digit makes the sum `NaN`, so that the check fails.
 */

const DIGIT_ZERO = 48;

/** Returns the digits of a code as numbers. */
export function parseDigits(code: string): readonly number[] {
  return Array.from(code, (char) => char.charCodeAt(0) - DIGIT_ZERO);
}

/** Returns the sum of the digits, each times its weight. Digits beyond the weights are ignored. */
export function sumWeighted(code: string, weights: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < weights.length; at++) sum += weights[at]! * (code.charCodeAt(at) - DIGIT_ZERO);
  return sum;
}

/** Returns the sum of the digits' products with their weights, each product counted by the sum of its own digits. */
export function sumWeightedDigits(code: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, at) => {
    const product = weight * (code.charCodeAt(at) - DIGIT_ZERO);
    return sum + Math.floor(product / 10) + (product % 10);
  }, 0);
}

/** Returns the digit at an offset, counted from the end if negative. */
export function readDigit(code: string, at: number): number {
  return code.charCodeAt(at < 0 ? code.length + at : at) - DIGIT_ZERO;
}

/** Returns the remainder of a decimal number of any length. */
export function computeRemainder(digits: string, modulus: number): number {
  let rest = 0;
  for (let at = 0; at < digits.length; at++) rest = (rest * 10 + readDigit(digits, at)) % modulus;
  return rest;
}

/** Checks ISO 7064 mod 11-2: the last character is the check digit, `X` means 10. */
export function hasMod11Radix2(code: string): boolean {
  let sum = 0;
  for (let at = 0; at < code.length - 1; at++) sum = ((sum + readDigit(code, at)) * 2) % 11;
  const last = code.at(-1)!.toUpperCase() === 'X' ? 10 : readDigit(code, -1);
  return (sum + last) % 11 === 1;
}

/** Checks ISO 7064 mod 11,10: the last digit is the check digit. */
export function hasMod11And10(digits: string): boolean {
  let product = 10;
  for (let at = 0; at < digits.length - 1; at++) {
    const sum = (product + readDigit(digits, at)) % 10;
    product = ((sum === 0 ? 10 : sum) * 2) % 11;
  }
  return (product + readDigit(digits, -1)) % 10 === 1;
}

const DIHEDRAL = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
];

const PERMUTED = [
  '0123456789',
  '1576283094',
  '5803796142',
  '8916043527',
  '9453126870',
  '4286573901',
  '2793806415',
  '7046913258',
];

/** Checks Verhoeff; the last digit is the check digit. */
export function hasVerhoeff(digits: string): boolean {
  let check = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = readDigit(digits, -1 - at);
    if (!(digit >= 0 && digit <= 9)) return false;
    check = readDigit(DIHEDRAL[check]!, readDigit(PERMUTED[at % PERMUTED.length]!, digit));
  }
  return check === 0 && digits.length > 1;
}

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns whether the month has the day. 29 February always counts, because the century is often unknown. */
export function isValidDay(month: number, day: number): boolean {
  return day >= 1 && day <= (DAYS[month - 1] ?? 0);
}

/** Returns whether two digits of month and two of day are at these offsets. */
export function hasValidDay(code: string, monthAt: number, dayAt: number): boolean {
  return isValidDay(parseTwoDigits(code, monthAt), parseTwoDigits(code, dayAt));
}

/** Returns the number written by two digits at an offset. */
export function parseTwoDigits(code: string, at: number): number {
  return readDigit(code, at) * 10 + readDigit(code, at + 1);
}

/** Returns whether the characters differ: `00000000` passes most sums. */
export function hasVariedCharacters(code: string): boolean {
  for (let at = 1; at < code.length; at++) if (code.charCodeAt(at) !== code.charCodeAt(0)) return true;
  return false;
}
