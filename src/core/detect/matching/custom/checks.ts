/** What a value must pass before a pattern of one's own finds it: checks by name, for settings and plug-ins are data. */
import type { CheckName } from '../../../types/index.ts';
import { hasMod11And10, hasMod11Radix2, hasVariedCharacters, hasVerhoeff } from '../check-digits.ts';
import { isLuhn, isMod97 } from '../checksums.ts';
import { measureEntropy } from '../entropy.ts';
import { isPlaceholder } from '../placeholders.ts';

/** Each takes a value of any characters, in linear time. */
const CHECKS: Readonly<Record<CheckName, (value: string) => boolean>> = {
  luhn: (value) => isLuhn(digitsIn(value)),
  mod97: (value) => hasMod97(value.replace(/[^0-9A-Za-z]/g, '')),
  mod11_2: (value) => isMod11Radix2Value(value.replace(/[^0-9Xx]/g, '')),
  mod11_10: (value) => digitsIn(value).length > 1 && hasMod11And10(digitsIn(value)),
  verhoeff: (value) => hasVerhoeff(digitsIn(value)),
  varied: hasVariedCharacters,
  not_placeholder: (value) => !isPlaceholder(value),
};

/** What a value must be, beside matching its pattern. */
export interface ValueChecks {
  readonly checks?: readonly CheckName[];
  /** Bits per character. */
  readonly entropy_min?: number;
}

/** Whether a value passes all of them. A name that nothing here knows is passed by no value. */
export function passesChecks(value: string, { checks = [], entropy_min = 0 }: ValueChecks): boolean {
  if (entropy_min > 0 && measureEntropy(value) < entropy_min) return false;
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
function isMod11Radix2Value(code: string): boolean {
  return /^[0-9]+[0-9Xx]$/.test(code) && hasMod11Radix2(code);
}
