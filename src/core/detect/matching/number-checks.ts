/**
 * The check digits of identity numbers as data: one row per kind of number, by the id of its detectors. The rows are
 * from the publications of the offices that issue the numbers. A number passes if all checks of its row do and its
 * characters are not all equal, because `00000000` passes most sums.
 */
import { hasMod11And10, hasMod11Radix2, hasVariedCharacters, hasVerhoeff } from './check-digits.ts';
import { isLuhn } from './checksums.ts';

/** A weighted sum of characters, and the check character that follows from its remainder. */
interface WeightedCheck {
  readonly modulus: number;
  /** The check character for each remainder in order, `-` for remainders of no number; `null` if the sum is divisible. */
  readonly characters: string | null;
  readonly weights: readonly number[];
  /** The offset of the first weighted character; 0 by default. */
  readonly from?: number;
  /** The offset of the check character; by default the one after the weighted characters. */
  readonly at?: number;
  /** Added to the sum. */
  readonly add?: number;
  /** Letters, whose values count from 1 in this order; by default A is 10 and Z is 35. */
  readonly letters?: string;
  /** The check that applies if the remainder is one of no number. */
  readonly otherwise?: WeightedCheck;
}

/** Algorithms with a name, over the whole number. */
const ALGORITHMS = {
  luhn: isLuhn,
  verhoeff: hasVerhoeff,
  mod_11_2: hasMod11Radix2,
  mod_11_10: hasMod11And10,
} as const;

interface NumberCheck {
  readonly checks: readonly (WeightedCheck | keyof typeof ALGORITHMS)[];
  /** The length to which shorter numbers are filled with zeros in front. */
  readonly length?: number;
  /** The length of the part with the check digits, without a suffix such as a branch. */
  readonly head?: number;
  /** True if letters, such as a country code, can precede the number. */
  readonly has_country?: true;
}

/** Returns the check of a kind of number without separators; `null` if the kind has no row. */
export function getNumberCheck(id: string): ((code: string) => boolean) | null {
  const row = Object.hasOwn(NUMBER_CHECKS, id) ? NUMBER_CHECKS[id]! : null;
  return row === null ? null : (code) => hasCheckDigits(row, code);
}

function hasCheckDigits({ checks, length = 0, head, has_country }: NumberCheck, code: string): boolean {
  const own = has_country ? code.replace(/^[A-Z]+/, '') : code;
  const number = own.slice(0, head).padStart(length, '0');
  if (!hasVariedCharacters(number)) return false;
  return checks.every((check) =>
    typeof check === 'string' ? ALGORITHMS[check](number) : hasWeightedCheck(check, number),
  );
}

function hasWeightedCheck(check: WeightedCheck, code: string): boolean {
  const { modulus, characters, weights, from = 0, at = from + weights.length, add = 0, otherwise } = check;
  let sum = add;
  for (let index = 0; index < weights.length; index++)
    sum += weights[index]! * getValue(code.charCodeAt(from + index), check.letters);
  const rest = ((sum % modulus) + modulus) % modulus;
  if (characters === null) return rest === 0;
  const right = characters[rest];
  return right === '-' && otherwise !== undefined ? hasWeightedCheck(otherwise, code) : right === code[at];
}

const ZERO = 48;
const NINE = 57;
const LETTER_A = 65;

/** Returns the value of a digit or a capital; `NaN` for other characters, which no check accepts. */
function getValue(unit: number, letters: string | undefined): number {
  if (unit >= ZERO && unit <= NINE) return unit - ZERO;
  if (letters !== undefined) return letters.indexOf(String.fromCharCode(unit)) + 1;
  return unit >= LETTER_A ? unit - LETTER_A + 10 : Number.NaN;
}

function buildSum(modulus: number, characters: string | null, ...weights: readonly number[]): WeightedCheck {
  return { modulus, characters, weights };
}

/** Check digits by remainder: the remainder itself, and what is missing to the modulus, with 10 as stated. */
const REST_11 = '0123456789-';
const REST_11_TEN_IS_0 = '01234567890';
const REST_10 = '0123456789';
const MISSING_10 = '0987654321';
const MISSING_11 = '0-987654321';
const MISSING_11_TEN_IS_0 = '00987654321';
const MISSING_11_OF_10 = '10987654321';

/** The rows, by id. */
export const NUMBER_CHECKS: Readonly<Record<string, NumberCheck>> = {
  'ae.emirates_id': { checks: ['luhn'] },
  'ar.cbu': {
    checks: [
      buildSum(10, MISSING_10, 7, 1, 3, 9, 7, 1, 3),
      { ...buildSum(10, MISSING_10, 3, 9, 7, 1, 3, 9, 7, 1, 3, 9, 7, 1, 3), from: 8 },
    ],
  },
  'ar.cuit': { checks: [buildSum(11, '09987654321', 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)] },
  'at.svnr': { checks: [{ ...buildSum(11, REST_11, 3, 7, 9, 0, 5, 8, 4, 2, 1, 6), at: 3 }] },
  'at.tin': { checks: ['luhn'] },
  'au.abn': { checks: [{ ...buildSum(89, null, 10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19), add: -10 }] },
  'au.acn': { checks: [buildSum(10, MISSING_10, 8, 7, 6, 5, 4, 3, 2, 1)] },
  'au.medicare': { checks: [buildSum(10, REST_10, 1, 3, 7, 9, 1, 3, 7, 9)] },
  'az.voen': { checks: [buildSum(11, REST_11, 4, 1, 8, 6, 2, 7, 5, 3)] },
  'bg.egn': { checks: [buildSum(11, REST_11_TEN_IS_0, 2, 4, 8, 5, 10, 9, 7, 3, 6)] },
  'bg.lnch': { checks: [buildSum(10, REST_10, 21, 19, 17, 13, 11, 9, 7, 3, 1)] },
  'br.cnpj': {
    checks: [
      buildSum(11, MISSING_11_TEN_IS_0, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2),
      buildSum(11, MISSING_11_TEN_IS_0, 6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2),
    ],
  },
  'br.cns': { checks: [buildSum(11, null, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)] },
  'br.cpf': {
    checks: [
      buildSum(11, MISSING_11_TEN_IS_0, 10, 9, 8, 7, 6, 5, 4, 3, 2),
      buildSum(11, MISSING_11_TEN_IS_0, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2),
    ],
  },
  'br.pis': { checks: [buildSum(11, MISSING_11_TEN_IS_0, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)] },
  'br.renavam': { checks: [buildSum(11, MISSING_11_TEN_IS_0, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)] },
  'by.personal_number': { checks: [buildSum(10, REST_10, 7, 3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1, 7)] },
  'by.unp': { checks: [buildSum(11, REST_11, 29, 23, 19, 17, 13, 7, 5, 3)] },
  'ca.bc_phn': { checks: [{ ...buildSum(11, MISSING_11, 2, 4, 8, 5, 10, 9, 7, 3), from: 1 }] },
  'ca.bn': { checks: ['luhn'], head: 9 },
  'ca.sin': { checks: ['luhn'] },
  'ch.ahv': { checks: [buildSum(10, null, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1)] },
  'ch.uid': { checks: [buildSum(11, MISSING_11, 5, 4, 3, 2, 7, 6, 5, 4)], has_country: true },
  'cl.rut': { checks: [buildSum(11, '0K987654321', 3, 2, 7, 6, 5, 4, 3, 2)], length: 9 },
  'cn.ric': { checks: ['mod_11_2'] },
  'co.nit': {
    checks: [buildSum(11, '01987654321', 71, 67, 59, 53, 47, 43, 41, 37, 29, 23, 19, 17, 13, 7, 3)],
    length: 16,
  },
  'cz.ico': { checks: [buildSum(11, MISSING_11_OF_10, 8, 7, 6, 5, 4, 3, 2)] },
  'dk.cvr': { checks: [buildSum(11, null, 2, 7, 6, 5, 4, 3, 2, 1)] },
  'do.cedula': { checks: ['luhn'] },
  'do.rnc': { checks: [buildSum(11, '21987654321', 7, 9, 8, 6, 5, 4, 3, 2)] },
  'ec.ci': { checks: ['luhn'], head: 10 },
  'ee.isikukood': {
    checks: [
      {
        ...buildSum(11, REST_11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1),
        otherwise: buildSum(11, REST_11_TEN_IS_0, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3),
      },
    ],
  },
  'ee.registrikood': {
    checks: [
      {
        ...buildSum(11, REST_11, 1, 2, 3, 4, 5, 6, 7),
        otherwise: buildSum(11, REST_11_TEN_IS_0, 3, 4, 5, 6, 7, 8, 9),
      },
    ],
  },
  'ee.kmkr': { checks: [buildSum(10, null, 3, 7, 1, 3, 7, 1, 3, 7, 1)], has_country: true },
  'fi.ytunnus': { checks: [buildSum(11, null, 7, 9, 10, 5, 8, 4, 2, 1)] },
  'fr.siren': { checks: ['luhn'] },
  'gb.nhs': { checks: [buildSum(11, MISSING_11, 10, 9, 8, 7, 6, 5, 4, 3, 2)] },
  'gb.utr': { checks: [{ ...buildSum(11, '21987654321', 6, 7, 8, 9, 10, 5, 4, 3, 2), from: 1, at: 0 }] },
  'gn.nifp': { checks: ['luhn'] },
  'gr.afm': { checks: [buildSum(11, REST_11_TEN_IS_0, 256, 128, 64, 32, 16, 8, 4, 2)], has_country: true },
  'gr.amka': { checks: ['luhn'] },
  'gt.cui': { checks: [buildSum(11, REST_11, 2, 3, 4, 5, 6, 7, 8, 9)] },
  'gt.nit': { checks: [buildSum(11, '0K987654321', 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)], length: 12 },
  'hr.oib': { checks: ['mod_11_10'], has_country: true },
  'hu.adoazonosito': { checks: [buildSum(11, REST_11, 1, 2, 3, 4, 5, 6, 7, 8, 9)] },
  'hu.adoszam': { checks: [buildSum(10, MISSING_10, 9, 7, 3, 1, 9, 7, 3)] },
  'hu.taj': { checks: [buildSum(10, REST_10, 3, 7, 3, 7, 3, 7, 3, 7)] },
  'il.company': { checks: ['luhn'] },
  'il.id': { checks: ['luhn'] },
  'in.aadhaar': { checks: ['verhoeff'] },
  'in.virtual_id': { checks: ['verhoeff'] },
  'ir.national_code': { checks: [buildSum(11, '01987654321', 10, 9, 8, 7, 6, 5, 4, 3, 2)] },
  'is.kennitala': { checks: [buildSum(11, null, 3, 2, 7, 6, 5, 4, 3, 2, 1)] },
  'it.partita_iva': { checks: ['luhn'], has_country: true },
  'jp.corporate_number': {
    checks: [{ ...buildSum(9, '987654321', 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1), from: 1, at: 0 }],
  },
  'jp.my_number': { checks: [buildSum(11, MISSING_11_TEN_IS_0, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)] },
  'kw.civil_id': { checks: [buildSum(11, '--987654321', 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)] },
  'kz.iin': {
    checks: [
      {
        ...buildSum(11, REST_11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
        otherwise: buildSum(11, REST_11, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2),
      },
    ],
  },
  'lv.pvn': {
    checks: [{ ...buildSum(11, null, 9, 1, 4, 8, 3, 10, 2, 5, 7, 6, 1), add: -3 }],
    has_country: true,
  },
  'md.idnp': { checks: [buildSum(10, REST_10, 7, 3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1)] },
  'me.pib': { checks: [buildSum(11, MISSING_11_TEN_IS_0, 8, 7, 6, 5, 4, 3, 2)] },
  'mk.edb': {
    checks: [buildSum(11, MISSING_11_TEN_IS_0, 7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)],
    has_country: true,
  },
  'mx.clabe': { checks: [buildSum(10, MISSING_10, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7)] },
  'mx.nss': { checks: ['luhn'] },
  'nl.bsn': { checks: [buildSum(11, null, 9, 8, 7, 6, 5, 4, 3, 2, -1)], length: 9 },
  'nl.onderwijsnummer': { checks: [{ ...buildSum(11, null, 9, 8, 7, 6, 5, 4, 3, 2, -1), add: -5 }] },
  'no.fnr': {
    checks: [
      buildSum(11, null, 3, 7, 6, 1, 8, 9, 4, 5, 2, 1),
      buildSum(11, null, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1),
    ],
  },
  'no.kontonr': { checks: [buildSum(11, MISSING_11, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)] },
  'no.orgnr': { checks: [buildSum(11, null, 3, 2, 7, 6, 5, 4, 3, 2, 1)] },
  'nz.ird': {
    checks: [
      {
        ...buildSum(11, MISSING_11, 3, 2, 7, 6, 5, 4, 3, 2),
        otherwise: buildSum(11, MISSING_11, 7, 4, 3, 2, 5, 2, 7, 6),
      },
    ],
    length: 9,
    has_country: true,
  },
  'pe.ruc': { checks: [buildSum(11, MISSING_11_OF_10, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)] },
  'pl.dowod': { checks: [buildSum(10, null, 7, 3, 1, 9, 7, 3, 1, 7, 3)] },
  'pl.nip': { checks: [buildSum(11, null, 6, 5, 7, 2, 3, 4, 5, 6, 7, -1)], has_country: true },
  'pl.pesel': { checks: [buildSum(10, null, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)] },
  'pl.regon': { checks: [buildSum(11, REST_11_TEN_IS_0, 8, 9, 2, 3, 4, 5, 6, 7)] },
  'pt.nif': { checks: [buildSum(11, MISSING_11_TEN_IS_0, 9, 8, 7, 6, 5, 4, 3, 2)], has_country: true },
  'pt.niss': { checks: [buildSum(10, '9876543210', 29, 23, 19, 17, 13, 11, 7, 5, 3, 2)] },
  'py.ruc': { checks: [buildSum(11, MISSING_11_TEN_IS_0, 9, 8, 7, 6, 5, 4, 3, 2)], length: 9 },
  'ro.cnp': { checks: [buildSum(11, '01234567891', 2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)] },
  'ro.cui': {
    checks: [buildSum(11, MISSING_11_TEN_IS_0, 7, 5, 3, 2, 1, 7, 5, 3, 2)],
    length: 10,
    has_country: true,
  },
  'rs.pib': { checks: ['mod_11_10'] },
  'sa.id': { checks: ['luhn'] },
  'se.orgnr': { checks: ['luhn'] },
  'si.davcna': { checks: [buildSum(11, '-0987654321', 8, 7, 6, 5, 4, 3, 2)], has_country: true },
  'si.maticna': { checks: [buildSum(11, '-0987654321', 7, 6, 5, 4, 3, 2)], head: 7 },
  'sv.dui': { checks: [buildSum(10, MISSING_10, 9, 8, 7, 6, 5, 4, 3, 2)] },
  'th.pin': { checks: [buildSum(11, MISSING_11_OF_10, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)] },
  'th.tin': { checks: [buildSum(11, MISSING_11_OF_10, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)] },
  'ua.rntrc': { checks: [buildSum(11, REST_11_TEN_IS_0, -1, 5, 7, 9, 4, 6, 10, 5, 7)] },
  'us.aba_routing': { checks: [buildSum(10, null, 3, 7, 1, 3, 7, 1, 3, 7, 1)] },
  'us.dea': { checks: [{ ...buildSum(10, REST_10, 1, 2, 1, 2, 1, 2), from: 2 }] },
  'uy.ci': { checks: [buildSum(10, MISSING_10, 2, 9, 8, 7, 6, 3, 4)] },
  'uy.rut': { checks: [buildSum(11, MISSING_11, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)] },
  'uz.pinfl': { checks: [buildSum(10, REST_10, 7, 3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1, 7)] },
  've.rif': {
    checks: [{ ...buildSum(11, MISSING_11_TEN_IS_0, 4, 3, 2, 7, 6, 5, 4, 3, 2), letters: 'VEJPG' }],
  },
  'vn.mst': { checks: [buildSum(11, '-9876543210', 31, 29, 23, 19, 17, 13, 7, 5, 3)], head: 10 },
  'yu.jmbg': { checks: [buildSum(11, MISSING_11_TEN_IS_0, 7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)] },
  'za.id': { checks: ['luhn'] },
  'za.tin': { checks: ['luhn'] },
};
