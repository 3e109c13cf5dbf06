import { digitAt, digitsOf, hasDay, isVaried, remainder, weigh } from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { identifier } from '../../matching/identifier.ts';

const LONG_NUMBER = '(?<![\\w.-])\\d{8}';
const DOTTED = '(?<![\\w.-])\\d{1,3}\\.\\d{3}\\.\\d{3}';

/** Numbers of people, companies and accounts in Latin America and the Caribbean. */
export const latinAmerica: readonly Detector[] = [
  ...identifier({
    id: 'ar.cuit',
    detector: 'tax_id',
    description:
      'Argentine tax and labour numbers (CUIT, CUIL): a kind, a number and a check digit (mod 11).',
    value: '(?:20|23|24|25|26|27|30|33|34|50|51|55)-?\\d{8}-?\\d',
    check: isCuit,
    alone: {
      anchors: ['(?<![\\w.-])\\d{2}-\\d{6}', LONG_NUMBER],
      value: '(?:20|23|24|27|30|33|34)-?\\d{8}-?\\d',
    },
    names: ['cuit', 'cuil'],
    right: ['20-05536168-2', '20055361682'],
    wrong: ['20-05536168-3', '40-05536168-2'],
  }),
  ...identifier({
    id: 'ar.dni',
    detector: 'national_id',
    description: 'Argentine, Peruvian and other identity numbers of seven or eight digits.',
    value: '\\d{1,2}\\.?\\d{3}\\.?\\d{3}(?:-[\\dA-Z])?',
    check: isVaried,
    names: ['dni', 'documento', 'documento nacional', 'documento de identidad'],
    right: ['20.123.456', '20123456', '10117410-2'],
    wrong: ['20.123', '11111111'],
  }),
  ...identifier({
    id: 'ar.cbu',
    detector: 'bank_account',
    description: 'Argentine account numbers (CBU): two blocks, each with a check digit (mod 10).',
    value: '\\d{8} ?\\d{14}',
    check: (code) => isCbuBlock(code.slice(0, 8)) && isCbuBlock(code.slice(8)) && isVaried(code),
    alone: { anchors: [LONG_NUMBER] },
    names: ['cbu', 'cvu', 'clave bancaria uniforme'],
    right: ['2850590940090418135201', '28505909 40090418135201'],
    wrong: ['2850590940090418135202', '285059094009041813520'],
  }),
  ...identifier({
    id: 'br.cpf',
    detector: 'national_id',
    description: 'Brazilian numbers of people (CPF) with two check digits (mod 11).',
    value: '\\d{3}\\.?\\d{3}\\.?\\d{3}-?\\d{2}',
    check: isCpf,
    alone: { anchors: [LONG_NUMBER, '(?<![\\w.-])\\d{1,3}\\.\\d{3}\\.\\d{3}'] },
    names: ['cpf', 'cadastro de pessoa'],
    right: ['390.533.447-05', '39053344705'],
    wrong: ['390.533.447-06', '111.111.111-11'],
  }),
  ...identifier({
    id: 'br.cnpj',
    detector: 'business_id',
    severity: 'low',
    description: 'Brazilian company numbers (CNPJ) with two check digits (mod 11).',
    value: '\\d{2}\\.?\\d{3}\\.?\\d{3}/?\\d{4}-?\\d{2}',
    check: isCnpj,
    alone: { anchors: [LONG_NUMBER, '(?<![\\w.-])\\d{1,3}\\.\\d{3}\\.\\d{3}'] },
    names: ['cnpj'],
    right: ['16.727.230/0001-97', '16727230000197'],
    wrong: ['16.727.230/0001-98', '16.727.230/0001'],
  }),
  ...identifier({
    id: 'br.rg',
    detector: 'national_id',
    description: 'Brazilian identity cards (RG) and driving licences (CNH), next to their names.',
    value: '\\d{1,2}\\.?\\d{3}\\.?\\d{3}-?[\\dX]|\\d{11}',
    check: isVaried,
    names: ['rg', 'registro geral', 'cnh', 'carteira de identidade'],
    right: ['24.678.131-4', '246781314', '98765432100'],
    wrong: ['24.678', '111111111'],
  }),
  ...identifier({
    id: 'cl.rut',
    detector: 'national_id',
    description: 'Chilean identity and tax numbers (RUT, RUN) with a check character (mod 11, K).',
    value: '\\d{1,2}\\.?\\d{3}\\.?\\d{3}-?[\\dK]',
    check: isRut,
    alone: { anchors: [DOTTED], value: '\\d{1,2}\\.\\d{3}\\.\\d{3}-[\\dK]' },
    names: ['rut', 'run'],
    right: ['12.531.909-2', '12531909-2', '76086428-5'],
    wrong: ['12.531.909-3', '12.531-2'],
  }),
  ...identifier({
    id: 'co.nit',
    detector: 'tax_id',
    description: 'Colombian tax numbers (NIT) with a check digit (mod 11 over primes).',
    value: '\\d{1,3}(?:\\.?\\d{3}){2,3}-?\\d|\\d{6,15}-\\d',
    check: isNit,
    alone: { anchors: [DOTTED], value: '\\d{1,3}(?:\\.\\d{3}){2,3}-\\d' },
    names: ['nit', 'rut colombia'],
    right: ['213.123.432-1', '2131234321', '860002964-4'],
    wrong: ['213.123.432-2', '213.12'],
  }),
  ...identifier({
    id: 'cr.cedula',
    detector: 'national_id',
    description: 'Identity numbers of Costa Rica and of other countries, next to the word for them.',
    value:
      '(?:0?[1-9]-?\\d{4}-?\\d{4}|\\d{10}|\\d{9}-\\d|\\d{3}-?\\d{7}-?\\d|[VE]-?\\d{1,2}\\.?\\d{3}\\.?\\d{3}|\\d\\.?\\d{3}\\.?\\d{3}-?\\d|\\d{1,2}\\.?\\d{3}\\.?\\d{3})',
    alone: { anchors: ['(?<![\\w.-])[1-9]-\\d{4}-\\d{2}'], value: '[1-9]-\\d{4}-\\d{4}' },
    names: ['c[ée]dula', 'cedula', 'c[ée]dula de identidad', 'carn[ée] de identidad', 'c\\.i\\.'],
    right: ['1-0913-0259', '01-0913-0259', '110913025', '171430710-3'],
    wrong: ['1-0913-02'],
  }),
  ...identifier({
    id: 'cu.ni',
    detector: 'national_id',
    description: 'Cuban identity numbers: a birth date, century, serial and sex.',
    value: '\\d{11}',
    check: (code) => hasDay(code, 2, 4),
    names: ['carn[ée] de identidad', 'cuban id'],
    right: ['91021027775'],
    wrong: ['91131027775', '9102102777'],
  }),
  ...identifier({
    id: 'do.cedula',
    detector: 'national_id',
    description: 'Dominican identity numbers with a Luhn digit; alone only with dashes.',
    value: '\\d{3}-?\\d{7}-?\\d',
    check: (code) => isLuhn(code) && isVaried(code),
    alone: { anchors: ['(?<![\\w.-])\\d{3}-\\d{5}'], value: '\\d{3}-\\d{7}-\\d' },
    names: ['c[ée]dula', 'cedula', 'dominican id'],
    right: ['001-1391820-5', '00113918205'],
    wrong: ['001-1391820-6', '001-139182-5'],
  }),
  ...identifier({
    id: 'ec.ci',
    detector: 'national_id',
    description: 'Ecuadorian identity numbers: province, serial and a Luhn digit.',
    value: '(?:0[1-9]|1\\d|2[0-4]|30)[0-6]\\d{6}-?\\d(?:001)?',
    check: (code) => isLuhn(code.slice(0, 10)),
    alone: {
      anchors: ['(?<![\\w.-])\\d{8}'],
      value: '(?:0[1-9]|1\\d|2[0-4]|30)[0-6]\\d{6}-\\d',
    },
    names: ['c[ée]dula', 'cedula', 'c[ée]dula de identidad', 'ruc', 'c\\.i\\.'],
    right: ['171430710-3', '1714307103', '1714307103001'],
    wrong: ['171430710-4', '991430710-3'],
  }),
  ...identifier({
    id: 'mx.curp',
    detector: 'national_id',
    description:
      'Mexican population keys (CURP): letters of the names, birth date, sex, state and a check digit.',
    value:
      '[A-Z][AEIOUX][A-Z]{2}\\d{6}[HMX](?:AS|BC|BS|CC|CL|CM|CS|CH|DF|DG|GT|GR|HG|JC|MC|MN|MS|NT|NL|OC|PL|QT|QR|SP|SL|SR|TC|TS|TL|VZ|YN|ZS|NE)[B-DF-HJ-NP-TV-Z]{3}[0-9A-Z]\\d',
    check: (code) => hasDay(code, 6, 8),
    alone: { anchors: ['(?i)(?<![\\w.-])[a-z]{4}\\d{3}'] },
    names: ['curp', 'clave [úu]nica'],
    right: ['BOXW310820HNERXN09'],
    wrong: ['BOXW311320HNERXN09', 'BOXW310820HZZRXN09'],
  }),
  ...identifier({
    id: 'mx.rfc',
    detector: 'tax_id',
    description:
      'Mexican tax numbers (RFC): letters of the name, a date and three characters with a check (mod 11).',
    value: '[A-ZÑ&]{3,4}[ -]?\\d{6}[ -]?[A-Z0-9]{2}[0-9A]',
    check: (code) => hasDay(code.slice(-9), 2, 4),
    alone: { anchors: ['(?i)(?<![\\w.-])[a-z]{3,4}[ -]?\\d{3}'] },
    names: ['rfc', 'registro federal'],
    right: ['GODE561231GR8', 'GODE 561231 GR8', 'VACE-460910-SX6'],
    wrong: ['GODE561331GR8', 'GO561231GR8'],
  }),
  ...identifier({
    id: 'mx.clabe',
    detector: 'bank_account',
    description: 'Mexican account numbers (CLABE): bank, place, account and a check digit (weights 3, 7, 1).',
    value: '\\d{3} ?\\d{3} ?\\d{11} ?\\d',
    check: (code) => isClabe(code),
    names: ['clabe', 'clabe interbancaria'],
    right: ['032180000118359719', '032 180 00011835971 9'],
    wrong: ['032180000118359718', '03218000011835971'],
  }),
  ...identifier({
    id: 'mx.nss',
    detector: 'national_id',
    description: 'Mexican social security numbers (NSS) with a Luhn digit.',
    value: '\\d{2}-?\\d{2}-?\\d{2}-?\\d{4}-?\\d',
    check: (code) => isLuhn(code) && isVaried(code),
    names: ['nss', 'imss', 'seguro social', 'seguridad social'],
    right: ['10-91-81-2300-0', '10918123000'],
    wrong: ['10918123459', '1091812345'],
  }),
  ...identifier({
    id: 'pe.ruc',
    detector: 'tax_id',
    description: 'Peruvian tax numbers (RUC): a kind, a number and a check digit (mod 11).',
    value: '(?:10|15|16|17|20)\\d{9}',
    check: (code) => (11 - (weigh(code, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === digitAt(code, 10),
    names: ['ruc'],
    right: ['20512333797'],
    wrong: ['20512333798', '30512333797'],
  }),
  ...identifier({
    id: 'uy.ci',
    detector: 'national_id',
    description: 'Uruguayan identity numbers with a check digit (weights 2, 9, 8, 7, 6, 3, 4).',
    value: '\\d\\.?\\d{3}\\.?\\d{3}-?\\d',
    check: (code) => (10 - (weigh(code, [2, 9, 8, 7, 6, 3, 4]) % 10)) % 10 === digitAt(code, 7),
    names: ['uruguayan id', 'c[ée]dula de identidad', 'c\\.i\\.'],
    alone: { anchors: [DOTTED], value: '\\d\\.\\d{3}\\.\\d{3}-\\d' },
    right: ['1.234.567-2', '1234567-2'],
    wrong: ['1.234.567-3', '1.234.56-2'],
  }),
  ...identifier({
    id: 'uy.rut',
    detector: 'tax_id',
    description: 'Uruguayan tax numbers with a check digit (mod 11).',
    value: '(?:0[1-9]|1\\d|2[0-2])\\d{6}001\\d',
    check: (code) => (11 - (weigh(code, [4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11 === digitAt(code, 11),
    names: ['rut', 'rut uruguay'],
    right: ['211003420017'],
    wrong: ['211003420018', '21100342001', '211003400067'],
  }),
];

function isCuit(code: string): boolean {
  const rest = weigh(code, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return '012345678990'[(11 - rest) % 11] === code[10];
}

const CBU_WEIGHTS = [3, 1, 7, 9];

function isCbuBlock(block: string): boolean {
  const last = block.length - 1;
  const sum = digitsOf(block.slice(0, last)).reduce(
    (total, digit, at) => total + digit * CBU_WEIGHTS[(last - 1 - at) % 4]!,
    0,
  );
  return (10 - (sum % 10)) % 10 === digitAt(block, -1);
}

const CPF_FIRST = [10, 9, 8, 7, 6, 5, 4, 3, 2];
const CPF_SECOND = [11, ...CPF_FIRST];

function isCpf(code: string): boolean {
  return isVaried(code) && isBrazilian(code, CPF_FIRST) && isBrazilian(code, CPF_SECOND);
}

const CNPJ_FIRST = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_SECOND = [6, ...CNPJ_FIRST];

function isCnpj(code: string): boolean {
  return isVaried(code) && isBrazilian(code, CNPJ_FIRST) && isBrazilian(code, CNPJ_SECOND);
}

/** Checks the digit after the weighted ones. */
function isBrazilian(code: string, weights: readonly number[]): boolean {
  return ((11 - (weigh(code, weights) % 11)) % 11) % 10 === digitAt(code, weights.length);
}

function isRut(code: string): boolean {
  const padded = code.padStart(9, '0');
  return (
    '0123456789K'[(11 - (weigh(padded, [3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11] === padded[8] && isVaried(code)
  );
}

const NIT_PRIMES = [71, 67, 59, 53, 47, 43, 41, 37, 29, 23, 19, 17, 13, 7, 3];

function isNit(code: string): boolean {
  const rest = weigh(code.slice(0, -1).padStart(15, '0'), NIT_PRIMES) % 11;
  return (rest < 2 ? rest : 11 - rest) === digitAt(code, -1) && isVaried(code);
}

function isClabe(code: string): boolean {
  const sum = digitsOf(code.slice(0, 17)).reduce(
    (total, digit, at) => total + ((digit * [3, 7, 1][at % 3]!) % 10),
    0,
  );
  return (10 - (sum % 10)) % 10 === remainder(code.slice(17), 10);
}
