/** Check digits, over strings of ASCII digits and letters without separators. */

/** Checks Luhn (ISO/IEC 7812-1); the last digit is the check digit. Spaces and signs between digits are skipped. */
export function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, isDouble = false; at >= 0; at--) {
    const digit = digits.charCodeAt(at) - 48;
    if (digit < 0) continue;
    const doubled = digit * 2;
    sum += isDouble ? (doubled > 9 ? doubled - 9 : doubled) : digit;
    isDouble = !isDouble;
  }
  return digits.length > 1 && sum % 10 === 0;
}

/** Checks ISO 7064 mod 97-10 as IBANs use it: the first four characters move to the end, letters count from 10. */
export function isMod97(code: string): boolean {
  const turned = code.slice(4) + code.slice(0, 4);
  let rest = 0;
  for (let at = 0; at < turned.length; at++) {
    const value = Number.parseInt(turned[at]!, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
