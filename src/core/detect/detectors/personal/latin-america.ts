import {
  computeRemainder,
  digitAt,
  hasValidDay,
  hasVariedCharacters,
  parseDigits,
  sumWeighted,
} from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

const LONG_NUMBER = '(?<![\\w.-])\\d{8}';
const DOTTED = '(?<![\\w.-])\\d{1,3}\\.\\d{3}\\.\\d{3}';

/** Numbers of people, companies and accounts in Latin America and the Caribbean. */
export const latinAmerica: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'ar.cuit',
    detector: 'tax_id',
    description:
      'Argentine tax and labour numbers (CUIT, CUIL): a kind, a number and a check digit (mod 11).',
    value: '(?:20|23|24|25|26|27|30|33|34|50|51|55)-?\\d{8}-?\\d',
    check: isCuit,
    standalone: {
      anchors: ['(?<![\\w.-])\\d{2}-\\d{6}', LONG_NUMBER],
      value: '(?:20|23|24|27|30|33|34)-?\\d{8}-?\\d',
    },
    names: ['cuit', 'cuil'],
    valid: ['20-05536168-2', '20055361682'],
    invalid: ['20-05536168-3', '40-05536168-2'],
  }),
  ...buildIdentifierDetectors({
    id: 'ar.dni',
    detector: 'national_id',
    description: 'Argentine, Peruvian and other identity numbers of seven or eight digits.',
    value: '\\d{1,2}\\.?\\d{3}\\.?\\d{3}(?:-[\\dA-Z])?',
    check: hasVariedCharacters,
    names: ['dni', 'documento', 'documento nacional', 'documento de identidad'],
    valid: ['20.123.456', '20123456', '10117410-2'],
    invalid: ['20.123', '11111111'],
  }),
  ...buildIdentifierDetectors({
    id: 'ar.cbu',
    detector: 'bank_account',
    description: 'Argentine account numbers (CBU): two blocks, each with a check digit (mod 10).',
    value: '\\d{8} ?\\d{14}',
    check: (code) => isCbuBlock(code.slice(0, 8)) && isCbuBlock(code.slice(8)) && hasVariedCharacters(code),
    standalone: { anchors: [LONG_NUMBER] },
    names: ['cbu', 'cvu', 'clave bancaria uniforme'],
    valid: ['2850590940090418135201', '28505909 40090418135201'],
    invalid: ['2850590940090418135202', '285059094009041813520'],
  }),
  ...buildIdentifierDetectors({
    id: 'br.cpf',
    detector: 'national_id',
    description: 'Brazilian numbers of people (CPF) with two check digits (mod 11).',
    value: '\\d{3}\\.?\\d{3}\\.?\\d{3}-?\\d{2}',
    check: isCpf,
    standalone: { anchors: [LONG_NUMBER, '(?<![\\w.-])\\d{1,3}\\.\\d{3}\\.\\d{3}'] },
    names: ['cpf', 'cadastro de pessoa'],
    valid: ['390.533.447-05', '39053344705'],
    invalid: ['390.533.447-06', '111.111.111-11'],
  }),
  ...buildIdentifierDetectors({
    id: 'br.cnpj',
    detector: 'business_id',
    severity: 'low',
    description: 'Brazilian company numbers (CNPJ) with two check digits (mod 11).',
    value: '\\d{2}\\.?\\d{3}\\.?\\d{3}/?\\d{4}-?\\d{2}',
    check: isCnpj,
    standalone: { anchors: [LONG_NUMBER, '(?<![\\w.-])\\d{1,3}\\.\\d{3}\\.\\d{3}'] },
    names: ['cnpj'],
    valid: ['16.727.230/0001-97', '16727230000197'],
    invalid: ['16.727.230/0001-98', '16.727.230/0001'],
  }),
  ...buildIdentifierDetectors({
    id: 'br.rg',
    detector: 'national_id',
    description: 'Brazilian identity cards (RG) and driving licences (CNH), next to their names.',
    value: '\\d{1,2}\\.?\\d{3}\\.?\\d{3}-?[\\dX]|\\d{11}',
    check: hasVariedCharacters,
    names: ['rg', 'registro geral', 'cnh', 'carteira de identidade'],
    valid: ['24.678.131-4', '246781314', '98765432100'],
    invalid: ['24.678', '111111111'],
  }),
  ...buildIdentifierDetectors({
    id: 'cl.rut',
    detector: 'national_id',
    description: 'Chilean identity and tax numbers (RUT, RUN) with a check character (mod 11, K).',
    value: '\\d{1,2}\\.?\\d{3}\\.?\\d{3}-?[\\dK]',
    check: isRut,
    standalone: { anchors: [DOTTED], value: '\\d{1,2}\\.\\d{3}\\.\\d{3}-[\\dK]' },
    names: ['rut', 'run'],
    valid: ['12.531.909-2', '12531909-2', '76086428-5'],
    invalid: ['12.531.909-3', '12.531-2'],
  }),
  ...buildIdentifierDetectors({
    id: 'co.nit',
    detector: 'tax_id',
    description: 'Colombian tax numbers (NIT) with a check digit (mod 11 over primes).',
    value: '\\d{1,3}(?:\\.?\\d{3}){2,3}-?\\d|\\d{6,15}-\\d',
    check: isNit,
    standalone: { anchors: [DOTTED], value: '\\d{1,3}(?:\\.\\d{3}){2,3}-\\d' },
    names: ['nit', 'rut colombia'],
    valid: ['213.123.432-1', '2131234321', '860002964-4'],
    invalid: ['213.123.432-2', '213.12'],
  }),
  ...buildIdentifierDetectors({
    id: 'cr.cedula',
    detector: 'national_id',
    description: 'Identity numbers of Costa Rica and of other countries, next to the word for them.',
    value:
      '(?:0?[1-9]-?\\d{4}-?\\d{4}|\\d{10}|\\d{9}-\\d|\\d{3}-?\\d{7}-?\\d|[VE]-?\\d{1,2}\\.?\\d{3}\\.?\\d{3}|\\d\\.?\\d{3}\\.?\\d{3}-?\\d|\\d{1,2}\\.?\\d{3}\\.?\\d{3})',
    standalone: { anchors: ['(?<![\\w.-])[1-9]-\\d{4}-\\d{2}'], value: '[1-9]-\\d{4}-\\d{4}' },
    names: ['c[ée]dula', 'cedula', 'c[ée]dula de identidad', 'carn[ée] de identidad', 'c\\.i\\.'],
    valid: ['1-0913-0259', '01-0913-0259', '110913025', '171430710-3'],
    invalid: ['1-0913-02'],
  }),
  ...buildIdentifierDetectors({
    id: 'cu.ni',
    detector: 'national_id',
    description: 'Cuban identity numbers: a birth date, century, serial and sex.',
    value: '\\d{11}',
    check: (code) => hasValidDay(code, 2, 4),
    names: ['carn[ée] de identidad', 'cuban id'],
    valid: ['91021027775'],
    invalid: ['91131027775', '9102102777'],
  }),
  ...buildIdentifierDetectors({
    id: 'do.cedula',
    detector: 'national_id',
    description: 'Dominican identity numbers with a Luhn digit; alone only with dashes.',
    value: '\\d{3}-?\\d{7}-?\\d',
    check: (code) => isLuhn(code) && hasVariedCharacters(code),
    standalone: { anchors: ['(?<![\\w.-])\\d{3}-\\d{5}'], value: '\\d{3}-\\d{7}-\\d' },
    names: ['c[ée]dula', 'cedula', 'dominican id'],
    valid: ['001-1391820-5', '00113918205'],
    invalid: ['001-1391820-6', '001-139182-5'],
  }),
  ...buildIdentifierDetectors({
    id: 'ec.ci',
    detector: 'national_id',
    description: 'Ecuadorian identity numbers: province, serial and a Luhn digit.',
    value: '(?:0[1-9]|1\\d|2[0-4]|30)[0-6]\\d{6}-?\\d(?:001)?',
    check: (code) => isLuhn(code.slice(0, 10)),
    standalone: {
      anchors: ['(?<![\\w.-])\\d{8}'],
      value: '(?:0[1-9]|1\\d|2[0-4]|30)[0-6]\\d{6}-\\d',
    },
    names: ['c[ée]dula', 'cedula', 'c[ée]dula de identidad', 'ruc', 'c\\.i\\.'],
    valid: ['171430710-3', '1714307103', '1714307103001'],
    invalid: ['171430710-4', '991430710-3'],
  }),
  ...buildIdentifierDetectors({
    id: 'mx.curp',
    detector: 'national_id',
    description:
      'Mexican population keys (CURP): letters of the names, birth date, sex, state and a check digit.',
    value:
      '[A-Z][AEIOUX][A-Z]{2}\\d{6}[HMX](?:AS|BC|BS|CC|CL|CM|CS|CH|DF|DG|GT|GR|HG|JC|MC|MN|MS|NT|NL|OC|PL|QT|QR|SP|SL|SR|TC|TS|TL|VZ|YN|ZS|NE)[B-DF-HJ-NP-TV-Z]{3}[0-9A-Z]\\d',
    check: (code) => hasValidDay(code, 6, 8),
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]{4}\\d{3}'] },
    names: ['curp', 'clave [úu]nica'],
    valid: ['BOXW310820HNERXN09'],
    invalid: ['BOXW311320HNERXN09', 'BOXW310820HZZRXN09'],
  }),
  ...buildIdentifierDetectors({
    id: 'mx.rfc',
    detector: 'tax_id',
    description:
      'Mexican tax numbers (RFC): letters of the name, a date and three characters with a check (mod 11).',
    value: '[A-ZÑ&]{3,4}[ -]?\\d{6}[ -]?[A-Z0-9]{2}[0-9A]',
    check: (code) => hasValidDay(code.slice(-9), 2, 4),
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]{3,4}[ -]?\\d{3}'] },
    names: ['rfc', 'registro federal'],
    valid: ['GODE561231GR8', 'GODE 561231 GR8', 'VACE-460910-SX6'],
    invalid: ['GODE561331GR8', 'GO561231GR8'],
  }),
  ...buildIdentifierDetectors({
    id: 'mx.clabe',
    detector: 'bank_account',
    description: 'Mexican account numbers (CLABE): bank, place, account and a check digit (weights 3, 7, 1).',
    value: '\\d{3} ?\\d{3} ?\\d{11} ?\\d',
    check: (code) => isClabe(code),
    names: ['clabe', 'clabe interbancaria'],
    valid: ['032180000118359719', '032 180 00011835971 9'],
    invalid: ['032180000118359718', '03218000011835971'],
  }),
  ...buildIdentifierDetectors({
    id: 'mx.nss',
    detector: 'national_id',
    description: 'Mexican social security numbers (NSS) with a Luhn digit.',
    value: '\\d{2}-?\\d{2}-?\\d{2}-?\\d{4}-?\\d',
    check: (code) => isLuhn(code) && hasVariedCharacters(code),
    names: ['nss', 'imss', 'seguro social', 'seguridad social'],
    valid: ['10-91-81-2300-0', '10918123000'],
    invalid: ['10918123459', '1091812345'],
  }),
  ...buildIdentifierDetectors({
    id: 'pe.ruc',
    detector: 'tax_id',
    description: 'Peruvian tax numbers (RUC): a kind, a number and a check digit (mod 11).',
    value: '(?:10|15|16|17|20)\\d{9}',
    check: (code) =>
      (11 - (sumWeighted(code, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === digitAt(code, 10),
    names: ['ruc'],
    valid: ['20512333797'],
    invalid: ['20512333798', '30512333797'],
  }),
  ...buildIdentifierDetectors({
    id: 'uy.ci',
    detector: 'national_id',
    description: 'Uruguayan identity numbers with a check digit (weights 2, 9, 8, 7, 6, 3, 4).',
    value: '\\d\\.?\\d{3}\\.?\\d{3}-?\\d',
    check: (code) => (10 - (sumWeighted(code, [2, 9, 8, 7, 6, 3, 4]) % 10)) % 10 === digitAt(code, 7),
    names: ['uruguayan id', 'c[ée]dula de identidad', 'c\\.i\\.'],
    standalone: { anchors: [DOTTED], value: '\\d\\.\\d{3}\\.\\d{3}-\\d' },
    valid: ['1.234.567-2', '1234567-2'],
    invalid: ['1.234.567-3', '1.234.56-2'],
  }),
  ...buildIdentifierDetectors({
    id: 'uy.rut',
    detector: 'tax_id',
    description: 'Uruguayan tax numbers with a check digit (mod 11).',
    value: '(?:0[1-9]|1\\d|2[0-2])\\d{6}001\\d',
    check: (code) =>
      (11 - (sumWeighted(code, [4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11 === digitAt(code, 11),
    names: ['rut', 'rut uruguay'],
    valid: ['211003420017'],
    invalid: ['211003420018', '21100342001', '211003400067'],
  }),
];

function isCuit(code: string): boolean {
  const rest = sumWeighted(code, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return '012345678990'[(11 - rest) % 11] === code[10];
}

const CBU_WEIGHTS = [3, 1, 7, 9];

function isCbuBlock(block: string): boolean {
  const last = block.length - 1;
  const sum = parseDigits(block.slice(0, last)).reduce(
    (total, digit, at) => total + digit * CBU_WEIGHTS[(last - 1 - at) % 4]!,
    0,
  );
  return (10 - (sum % 10)) % 10 === digitAt(block, -1);
}

const CPF_FIRST = [10, 9, 8, 7, 6, 5, 4, 3, 2];
const CPF_SECOND = [11, ...CPF_FIRST];

function isCpf(code: string): boolean {
  return hasVariedCharacters(code) && isBrazilian(code, CPF_FIRST) && isBrazilian(code, CPF_SECOND);
}

const CNPJ_FIRST = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_SECOND = [6, ...CNPJ_FIRST];

function isCnpj(code: string): boolean {
  return hasVariedCharacters(code) && isBrazilian(code, CNPJ_FIRST) && isBrazilian(code, CNPJ_SECOND);
}

/** Verifies the check digit that follows the weighted digits. */
function isBrazilian(code: string, weights: readonly number[]): boolean {
  return ((11 - (sumWeighted(code, weights) % 11)) % 11) % 10 === digitAt(code, weights.length);
}

function isRut(code: string): boolean {
  const padded = code.padStart(9, '0');
  return (
    '0123456789K'[(11 - (sumWeighted(padded, [3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11] === padded[8] &&
    hasVariedCharacters(code)
  );
}

const NIT_PRIMES = [71, 67, 59, 53, 47, 43, 41, 37, 29, 23, 19, 17, 13, 7, 3];

function isNit(code: string): boolean {
  const rest = sumWeighted(code.slice(0, -1).padStart(15, '0'), NIT_PRIMES) % 11;
  return (rest < 2 ? rest : 11 - rest) === digitAt(code, -1) && hasVariedCharacters(code);
}

function isClabe(code: string): boolean {
  const sum = parseDigits(code.slice(0, 17)).reduce(
    (total, digit, at) => total + ((digit * [3, 7, 1][at % 3]!) % 10),
    0,
  );
  return (10 - (sum % 10)) % 10 === computeRemainder(code.slice(17), 10);
}
