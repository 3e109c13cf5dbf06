import {
  computeRemainder,
  hasValidDay,
  hasVariedCharacters,
  readDigit,
  sumWeighted,
} from '../../matching/check-digits.ts';
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
    names: ['clabe', 'clabe interbancaria'],
    valid: ['032180000118359719', '032 180 00011835971 9'],
    invalid: ['032180000118359718', '03218000011835971'],
  }),
  ...buildIdentifierDetectors({
    id: 'mx.nss',
    detector: 'national_id',
    description: 'Mexican social security numbers (NSS) with a Luhn digit.',
    value: '\\d{2}-?\\d{2}-?\\d{2}-?\\d{4}-?\\d',
    names: ['nss', 'imss', 'seguro social', 'seguridad social'],
    valid: ['10-91-81-2300-0', '10918123000'],
    invalid: ['10918123459', '1091812345'],
  }),
  ...buildIdentifierDetectors({
    id: 'pe.ruc',
    detector: 'tax_id',
    description: 'Peruvian tax numbers (RUC): a kind, a number and a check digit (mod 11).',
    value: '(?:10|15|16|17|20)\\d{9}',
    names: ['ruc'],
    valid: ['20512333797'],
    invalid: ['20512333798', '30512333797'],
  }),
  ...buildIdentifierDetectors({
    id: 'uy.ci',
    detector: 'national_id',
    description: 'Uruguayan identity numbers with a check digit (weights 2, 9, 8, 7, 6, 3, 4).',
    value: '\\d\\.?\\d{3}\\.?\\d{3}-?\\d',
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
    names: ['rut', 'rut uruguay'],
    valid: ['211003420017'],
    invalid: ['211003420018', '21100342001', '211003400067'],
  }),
  ...buildIdentifierDetectors({
    id: 'br.pis',
    detector: 'national_id',
    description: 'Brazilian numbers of workers (PIS, PASEP, NIS, NIT) with a check digit (mod 11).',
    value: '\\d{3}\\.?\\d{5}\\.?\\d{2}-?\\d',
    names: ['pis', 'pasep', 'pis/pasep', 'nis'],
    valid: ['120.54789.02-1', '12054789021'],
    invalid: ['120.54789.02-7', '120.54789'],
  }),
  ...buildIdentifierDetectors({
    id: 'br.cns',
    detector: 'health_id',
    description: 'Brazilian health cards (CNS): fifteen digits, whose weighted sum 11 divides.',
    value: '[1-25789]\\d{2} ?\\d{4} ?\\d{4} ?\\d{4}',
    names: ['cns', 'cart[ãa]o nacional de sa[úu]de', 'cart[ãa]o sus'],
    valid: ['700 0000 0000 0005', '100000000000007'],
    invalid: ['700 0000 0000 0006', '700 0000 0000'],
  }),
  ...buildIdentifierDetectors({
    id: 'br.renavam',
    detector: 'vehicle',
    severity: 'low',
    description: 'Brazilian numbers of vehicles (RENAVAM) with a check digit (mod 11).',
    value: '\\d{10}-?\\d',
    names: ['renavam'],
    valid: ['63977494908'],
    invalid: ['63977494901', '639774949'],
  }),
  ...buildIdentifierDetectors({
    id: 'br.titulo_eleitor',
    detector: 'national_id',
    description: 'Brazilian numbers of voters: a serial, the state and two check digits (mod 11).',
    value: '\\d{4} ?\\d{4} ?(?:0[1-9]|1\\d|2[0-8])\\d{2}',
    check: isVoter,
    names: ['titulo de eleitor', 't[íi]tulo de eleitor', 't[íi]tulo eleitoral'],
    valid: ['1023 8501 0671'],
    invalid: ['1023 8501 0672', '1023 8501 9971'],
  }),
  ...buildIdentifierDetectors({
    id: 'cr.cpj',
    detector: 'business_id',
    severity: 'low',
    description: 'Costa Rican numbers of companies: a class, a type and a serial.',
    value: '[2-5]-?\\d{3}-?\\d{6}',
    names: ['cedula juridica', 'c[ée]dula jur[íi]dica'],
    valid: ['3-101-999999', '3101999999'],
    invalid: ['6-101-999999', '3-101-9999'],
  }),
  ...buildIdentifierDetectors({
    id: 'do.rnc',
    detector: 'tax_id',
    severity: 'low',
    description: 'Dominican tax numbers (RNC) with a check digit (mod 11).',
    value: '\\d-?\\d{2}-?\\d{5}-?\\d',
    names: ['rnc'],
    valid: ['1-01-85004-3', '101850043'],
    invalid: ['1-01-85004-4', '1-01-8500'],
  }),
  ...buildIdentifierDetectors({
    id: 'gt.cui',
    detector: 'national_id',
    description:
      'Guatemalan identity numbers (CUI, DPI): a serial, a check digit (mod 11), department and municipality.',
    value: '\\d{4}[ -]?\\d{5}[ -]?(?:0[1-9]|1\\d|2[0-2])\\d{2}',
    names: [
      'cui',
      'dpi',
      'c[óo]digo [úu]nico de identificaci[óo]n',
      'documento personal de identificaci[óo]n',
    ],
    valid: ['1620 29381 0101', '1620293810101'],
    invalid: ['1620 29380 0101', '1620 29381 9901'],
  }),
  ...buildIdentifierDetectors({
    id: 'gt.nit',
    detector: 'tax_id',
    description: 'Guatemalan tax numbers (NIT) with a check character (mod 11, K).',
    value: '\\d{3,11}-[\\dK]|\\d{6,11}[\\dK]',
    names: ['nit'],
    valid: ['576937-K', '7108-0'],
    invalid: ['576937-0', '710'],
  }),
  ...buildIdentifierDetectors({
    id: 'hn.dni',
    detector: 'national_id',
    description: 'Honduran identity numbers: department, municipality, birth year and a serial.',
    value: '(?:0[1-9]|1[0-8])\\d{2}-?(?:19|20)\\d{2}-?\\d{5}',
    names: ['tarjeta de identidad', 'n[úu]mero de identidad', 'dni', 'identidad'],
    valid: ['0801-1990-12345', '0801199012345'],
    invalid: ['0801-2190-12345', '1901-1990-12345'],
  }),
  ...buildIdentifierDetectors({
    id: 'ni.cedula',
    detector: 'national_id',
    description: 'Nicaraguan identity numbers: municipality, birth date, serial and a letter (mod 23).',
    value: '\\d{3}-?\\d{6}-?\\d{4}[A-HJ-NP-Y]',
    check: isNicaraguan,
    standalone: { anchors: ['(?<![\\w.-])\\d{3}-\\d{6}-\\d'], value: '\\d{3}-\\d{6}-\\d{4}[A-HJ-NP-Y]' },
    names: ['cedula', 'c[ée]dula'],
    valid: ['001-150890-0012B', '0011508900012B'],
    invalid: ['001-150890-0012Z', '001-159990-0012B'],
  }),
  ...buildIdentifierDetectors({
    id: 'pe.cui',
    detector: 'national_id',
    description: 'Peruvian identity numbers with their check character (mod 11), a digit or a letter.',
    value: '\\d{8}-?[0-9A-K]',
    check: isPeruvian,
    names: ['cui', 'dni', 'documento nacional de identidad'],
    valid: ['10117410-2', '101174102', '10117410-G'],
    invalid: ['1011741-2', '10117410-Z'],
  }),
  ...buildIdentifierDetectors({
    id: 'py.ruc',
    detector: 'tax_id',
    description: 'Paraguayan tax numbers (RUC) with a check digit (mod 11).',
    value: '\\d{5,8}-?\\d',
    names: ['ruc'],
    valid: ['80028061-0', '9991603-7'],
    invalid: ['80028061-1', '8002806'],
  }),
  ...buildIdentifierDetectors({
    id: 'sv.dui',
    detector: 'national_id',
    description: 'Salvadoran identity numbers (DUI) with a check digit (mod 10).',
    value: '0\\d{7}-?\\d',
    names: ['dui', 'documento [úu]nico de identidad'],
    valid: ['00016297-5', '000162975'],
    invalid: ['00016297-6', '0001629-5'],
  }),
  ...buildIdentifierDetectors({
    id: 'sv.nit',
    detector: 'tax_id',
    description: 'Salvadoran tax numbers (NIT): municipality, birth date, serial and a check digit.',
    value: '\\d{4}-?\\d{6}-?\\d{3}-?\\d',
    check: isSalvadoranNit,
    standalone: { anchors: ['(?<![\\w.-])\\d{4}-\\d{6}-\\d'], value: '\\d{4}-\\d{6}-\\d{3}-\\d' },
    names: ['nit'],
    valid: ['0614-050707-104-8', '06140507071048'],
    invalid: ['0614-050707-104-0', '0614-050707-104'],
  }),
  ...buildIdentifierDetectors({
    id: 've.rif',
    detector: 'tax_id',
    description: 'Venezuelan tax numbers (RIF): the kind of holder, a serial and a check digit (mod 11).',
    value: '[VEJPG]-?\\d{8}-?\\d',
    standalone: { anchors: ['(?<![\\w.-])[VEJPG]-\\d{6}'], value: '[VEJPG]-\\d{8}-\\d' },
    names: ['rif'],
    valid: ['V-11470283-4', 'V114702834'],
    invalid: ['V-11470283-3', 'X-11470283-4'],
  }),
];

/** Returns whether both check digits of a voter's number are right: of the serial, and of the state and the first. */
function isVoter(code: string): boolean {
  const first = (sumWeighted(code, [2, 3, 4, 5, 6, 7, 8, 9]) % 11) % 10;
  const second = ((sumWeighted(code.slice(8), [7, 8]) + first * 9) % 11) % 10;
  return first === readDigit(code, 10) && second === readDigit(code, 11) && hasVariedCharacters(code);
}

const NICARAGUAN_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXY';

function isNicaraguan(code: string): boolean {
  const letter = NICARAGUAN_LETTERS[computeRemainder(code.slice(0, 13), 23)];
  return hasValidDay(code, 5, 3) && letter === code[13];
}

/** The check characters by remainder: numbers have had a letter and have a digit. */
const PERUVIAN_CHARACTERS = ['65432110987', 'KJIHGFEDCBA'];

function isPeruvian(code: string): boolean {
  const rest = sumWeighted(code, [3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return PERUVIAN_CHARACTERS.some((characters) => characters[rest] === code[8]) && hasVariedCharacters(code);
}

/** Returns whether a NIT is right. Serials up to 100 are from the time of another sum. */
function isSalvadoranNit(code: string): boolean {
  const isOld = code.slice(10, 13) <= '100';
  const check = isOld
    ? (sumWeighted(code, [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 10
    : ((11 - (sumWeighted(code, [2, 7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11) % 10;
  return check === readDigit(code, 13) && hasVariedCharacters(code);
}
