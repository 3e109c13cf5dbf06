/** Checks that a value must pass before a configured pattern finds it. They have names, because settings and plug-ins are data. */
import type { CheckName } from '../../../types/index.ts';
import { isMod11And10, isMod11Radix2, isVaried, isVerhoeff } from '../check-digits.ts';
import { isLuhn, isMod97 } from '../checksums.ts';
import { entropy } from '../entropy.ts';
import { isPlaceholder } from '../placeholders.ts';

/** Each takes a value of any characters, and is linear in it. */
const CHECKS: Readonly<Record<CheckName, (value: string) => boolean>> = {
  luhn: (value) => isLuhn(digitsIn(value)),
  mod97: (value) => hasMod97(value.replace(/[^0-9A-Za-z]/g, '')),
  mod11_2: (value) => hasMod11Radix2(value.replace(/[^0-9Xx]/g, '')),
  mod11_10: (value) => digitsIn(value).length > 1 && isMod11And10(digitsIn(value)),
  verhoeff: (value) => isVerhoeff(digitsIn(value)),
  varied: isVaried,
  not_placeholder: (value) => !isPlaceholder(value),
};

/** Requirements for a value, in addition to its pattern. */
export interface ValueChecks {
  readonly checks?: readonly CheckName[];
  /** Bits per character. */
  readonly entropy_min?: number;
}

/** Returns whether a value passes all of them. No value passes a check with an unknown name. */
export function passes(value: string, { checks = [], entropy_min = 0 }: ValueChecks): boolean {
  if (entropy_min > 0 && entropy(value) < entropy_min) return false;
  return checks.every((name) => Object.hasOwn(CHECKS, name) && CHECKS[name](value));
}

function digitsIn(value: string): string {
  return value.replace(/[^0-9]/g, '');
}

/** The first four characters are turned to the end: of fewer than five nothing is left to check. */
function hasMod97(code: string): boolean {
  return code.length > 4 && isMod97(code);
}

/** `X` stands for ten, and at the end alone. */
function hasMod11Radix2(code: string): boolean {
  return /^[0-9]+[0-9Xx]$/.test(code) && isMod11Radix2(code);
}
