import {
  computeRemainder,
  hasVariedCharacters,
  parseDigits,
  readDigit,
  sumWeighted,
} from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/** Numbers of people, companies and accounts in Spain and Portugal. */
export const iberia: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'es.dni',
    detector: 'national_id',
    description: 'Spanish identity numbers (DNI, NIF): eight digits, or seven, and a letter (mod 23).',
    value: '\\d{7,8}[ -]?[A-HJ-NP-TV-Z]',
    check: isDni,
    standalone: {
      anchors: ['(?<![\\w.-])\\d{8}', '(?i)(?<![\\w.-])\\d{7}[a-z]', '(?i)(?<![\\w.-])\\d{7}-[a-z]'],
      value: '\\d{7,8}-?[A-HJ-NP-TV-Z]',
    },
    names: ['dni', 'nif', 'documento nacional de identidad'],
    valid: ['54362315K', '54362315-K'],
    invalid: ['54362315Z', '5436231K'],
  }),
  ...buildIdentifierDetectors({
    id: 'es.nie',
    detector: 'national_id',
    description: 'Spanish numbers of foreigners (NIE): X, Y or Z, seven digits and a letter (mod 23).',
    value: '[XYZ][ -]?\\d{7}[ -]?[A-HJ-NP-TV-Z]',
    check: isNie,
    standalone: {
      anchors: ['(?i)(?<![\\w.-])[a-z]\\d{6}', '(?i)(?<![\\w.-])[a-z]-\\d{6}'],
      value: '[XYZ]-?\\d{7}-?[A-HJ-NP-TV-Z]',
    },
    names: ['nie', 'n[úu]mero de identidad de extranjero'],
    valid: ['X2482300W', 'x-2482300w'],
    invalid: ['X2482300A', 'X248230W'],
  }),
  ...buildIdentifierDetectors({
    id: 'es.cif',
    detector: 'business_id',
    severity: 'low',
    description: 'Spanish company numbers (CIF): a letter, seven digits and a check digit or letter.',
    value: '[A-HJNP-SUVW][ -]?\\d{7}[ -]?[0-9A-J]',
    check: isCif,
    standalone: {
      anchors: ['(?i)(?<![\\w.-])[a-z]\\d{6}', '(?i)(?<![\\w.-])[a-z]-\\d{6}'],
      value: '[NPQRSW]-?\\d{7}-?[A-J]|[ABJ]-?\\d{8}',
    },
    names: ['cif', 'nif'],
    valid: ['P1234567D', 'A13585625', 'J99216582'],
    invalid: ['A13585626', 'P1234567E'],
  }),
  ...buildIdentifierDetectors({
    id: 'es.ccc',
    detector: 'bank_account',
    description: 'Spanish account numbers: bank, branch, two check digits (mod 11) and account.',
    value: '\\d{4}[ -]?\\d{4}[ -]?\\d{2}[ -]?(?:\\d{10}|\\d{5} \\d{5})',
    check: isCcc,
    standalone: {
      anchors: ['(?<![\\w.-])\\d{4}-\\d{4}-\\d', '(?<![\\w.-])\\d{4} \\d{4} \\d', '(?<![\\w.-])\\d{8}'],
    },
    names: ['ccc', 'cuenta bancaria', 'c[óo]digo cuenta cliente'],
    valid: ['1234-1234-16 1234567890', '12341234161234567890', '1234 1234 16 12345 67890'],
    invalid: ['1234-1234-15 1234567890', '123412341612345678'],
  }),
  ...buildIdentifierDetectors({
    id: 'es.nss',
    detector: 'national_id',
    description: 'Spanish social security numbers: province, serial and two check digits (mod 97).',
    value: '\\d{2}[ /-]?\\d{7,8}[ /-]?\\d{2}',
    check: isNss,
    names: ['nss', 'n[úu]mero de la seguridad social', 'seguridad social'],
    valid: ['281234567840', '28/12345678/40'],
    invalid: ['281234567841', '2812345'],
  }),
  ...buildIdentifierDetectors({
    id: 'pt.nif',
    detector: 'tax_id',
    description: 'Portuguese tax numbers (NIF) with a check digit (mod 11).',
    value: '(?:PT ?)?(?:[1235689]\\d|45|7[0124579])\\d ?\\d{3} ?\\d{3}',
    names: ['nif', 'contribuinte', 'n[úu]mero de contribuinte', 'nipc'],
    valid: ['501964843', 'PT 501 964 843'],
    invalid: ['501964842', '401964843'],
  }),
  ...buildIdentifierDetectors({
    id: 'pt.cartao_de_cidadao',
    detector: 'national_id',
    description: 'Numbers of Portuguese citizen cards with check characters (Luhn over letters and digits).',
    value: '\\d{8}[ -]?\\d[ -]?[A-Z0-9]{2}\\d',
    check: isCartao,
    standalone: {
      anchors: ['(?<![\\w.-])\\d{8}'],
      value: '\\d{8}[ -]?\\d[ -]?[A-Z]{2}\\d',
    },
    names: ['cart[ãa]o de cidad[ãa]o', 'bilhete de identidade'],
    valid: ['00000000 0 ZZ4', '000000000ZZ4'],
    invalid: ['00000000 0 ZZ5', '0000000 0 ZZ4'],
  }),
  ...buildIdentifierDetectors({
    id: 'ad.nrt',
    detector: 'tax_id',
    description: 'Andorran tax numbers (NRT): the kind of holder, six digits and a letter.',
    value: '[ACDEFGLOPU]-?\\d{6}-?[A-Z]',
    standalone: { anchors: ['(?<![\\w.-])[ACDEFGLOPU]-\\d{6}'], value: '[ACDEFGLOPU]-\\d{6}-[A-Z]' },
    names: ['nrt'],
    valid: ['U-132950-X', 'U132950X'],
    invalid: ['B-132950-X', 'U-13295-X'],
  }),
  ...buildIdentifierDetectors({
    id: 'pt.niss',
    detector: 'national_id',
    description: 'Portuguese social security numbers (NISS) with a check digit (prime weights).',
    value: '[12]\\d{10}',
    names: ['niss', 'seguran[çc]a social'],
    valid: ['11234567892'],
    invalid: ['11234567893', '1123456789'],
  }),
];

const DNI_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE';

function isDni(code: string): boolean {
  return DNI_LETTERS[computeRemainder(code.slice(0, 8), 23)] === code[8];
}

/**
 * Returns whether a code is a NIE. Excludes the first numbers, which were issued long ago, because `x0000003a` is
 * usually a hexadecimal number.
 */
function isNie(code: string): boolean {
  return !code.startsWith('0000', 1) && isDni(`${'XYZ'.indexOf(code[0]!)}${code.slice(1)}`);
}

/**
 * Returns whether a code is a CIF: Luhn over the seven digits. Kinds of companies write the check as a letter, a
 * digit or either. Sources disagree on which kind does which, so both are accepted for all.
 */
function isCif(code: string): boolean {
  const sum = parseDigits(code.slice(1, 8)).reduce((total, digit, at) => {
    const value = at % 2 === 0 ? digit * 2 : digit;
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  const check = (10 - (sum % 10)) % 10;
  return 'JABCDEFGHI'[check] === code[8] || String(check) === code[8];
}

const CCC_WEIGHTS = [1, 2, 4, 8, 5, 10, 9, 7, 3, 6];

function isCcc(code: string): boolean {
  return (
    computeCccDigit(`00${code.slice(0, 8)}`) === readDigit(code, 8) &&
    computeCccDigit(code.slice(10)) === readDigit(code, 9) &&
    hasVariedCharacters(code)
  );
}

function computeCccDigit(digits: string): number {
  const check = 11 - (sumWeighted(digits, CCC_WEIGHTS) % 11);
  return check > 9 ? 11 - check : check;
}

function isNss(code: string): boolean {
  const serial = code.slice(2, -2).replace(/^0/, '');
  return computeRemainder(code.slice(0, 2) + serial, 97) === Number(code.slice(-2));
}

function isCartao(code: string): boolean {
  const sum = Array.from(code)
    .reverse()
    .reduce((total, char, at) => {
      const value = Number.parseInt(char, 36) * (at % 2 === 1 ? 2 : 1);
      return total + (at % 2 === 1 && value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}
