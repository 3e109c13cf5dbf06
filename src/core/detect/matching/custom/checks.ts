/**
 * Checks that the value of a user's pattern must pass. They have names, because settings and plug-ins are
 * data.
 */
import type { CheckName } from '../../../types/index.ts';
import { hasMod11And10, hasMod11Radix2, hasVariedCharacters, hasVerhoeff } from '../check-digits.ts';
import { isLuhn, isMod97 } from '../checksums.ts';
import { measureEntropy } from '../entropy.ts';
import { isPlaceholder } from '../placeholders.ts';

/** The checks by name. Each takes a value of any characters, in linear time. */
const CHECKS: Readonly<Record<CheckName, (value: string) => boolean>> = {
  luhn: (value) => isLuhn(extractDigits(value)),
  mod97: (value) => hasMod97(value.replace(/[^0-9A-Za-z]/g, '')),
  mod11_2: (value) => isMod11Radix2Value(value.replace(/[^0-9Xx]/g, '')),
  mod11_10: (value) => extractDigits(value).length > 1 && hasMod11And10(extractDigits(value)),
  verhoeff: (value) => hasVerhoeff(extractDigits(value)),
  not_repeated: hasVariedCharacters,
  not_placeholder: (value) => !isPlaceholder(value),
};

/** Conditions that a value must meet in addition to its pattern. */
export interface ValueChecks {
  readonly checks?: readonly CheckName[];
  /** The least Shannon entropy, in bits per character. */
  readonly entropy_min?: number;
}

/** Returns whether a value passes all checks. No value passes a check with an unknown name. */
export function passesChecks(value: string, { checks = [], entropy_min = 0 }: ValueChecks): boolean {
  if (entropy_min > 0 && measureEntropy(value) < entropy_min) return false;
  return checks.every((name) => Object.hasOwn(CHECKS, name) && CHECKS[name](value));
}

function extractDigits(value: string): string {
  return value.replace(/[^0-9]/g, '');
}

/** Checks ISO 7064 mod 97-10. The first four characters move to the end, so at least five are needed. */
function hasMod97(code: string): boolean {
  return code.length > 4 && isMod97(code);
}

/** Checks ISO 7064 mod 11-2. `X` means ten, and is allowed at the end only. */
function isMod11Radix2Value(code: string): boolean {
  return /^[0-9]+[0-9Xx]$/.test(code) && hasMod11Radix2(code);
}
