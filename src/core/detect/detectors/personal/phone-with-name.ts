import { hasVariedCharacters } from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/**
 * Digits in any grouping that countries use, with a trunk prefix, a country code or an extension. The text of a link to
 * a web address, `[2405664](https://...)`, is the number of what the address names.
 */
const NUMBER =
  '(?:\\+|00)?(?:\\d{1,18}|\\(\\+?\\d{1,5}\\)\\d{0,13})(?:[ ./-]{1,2}\\d{1,13}|[ ./-]{0,2}\\(\\d{1,4}\\)\\d{0,13}){0,6}(?: ?(?:x|ext\\.?) ?\\d{1,6})?(?!\\]\\(https?:)';

/**
 * Phone numbers in national forms. A word next to them, or the trunk prefix 0 with groups, distinguishes them from
 * other numbers.
 */
export const phoneWithName: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'phone.beside_its_name',
    detector: 'phone',
    severity: 'medium',
    description:
      'Telephone numbers in any national form: six to fifteen digits, with an extension or without.',
    value: NUMBER,
    try_work: 160,
    check: (_, written) => isDialled(written),
    names: [
      'phone',
      'telephone',
      'tel\\.?',
      'mobile',
      'mob\\.?',
      'cell',
      'cellphone',
      'fax',
      'office',
      'whatsapp',
      'call',
      'call me',
      'call me at',
      'call me on',
      'call us at',
      'call us on',
      'call him on',
      'call her on',
      'someone call me on',
      'reach [a-z]{2,4} at',
      'reach [a-z]{2,4} on',
      'answering at',
      'calls? to',
      'text me at',
      'contact number',
      'dial',
      'sms to',
      'messages? to',
      'my registered',
      'telef[oó]n',
      'telefonas',
      'telepon',
      't[āa]lrunis',
      'điện thoại',
      'sđt',
      't[ée]l[ée]phone',
      't[ée]l\\.?',
      'tel[ée]fono?',
      'telefone',
      'telefoon',
      'puhelin',
      'celular',
      'm[óo]vil',
      'handy',
      'mobil',
      'portable',
      'cellulare',
      'cep',
      'cep tel',
      'gsm',
      'numaram',
      'telefon numaram',
      '[тТ]елефона?',
      '[мМ]об(?:ильный|\\.)',
      '[τΤ]ηλέφωνο',
      '[τΤ]ηλ\\.',
      '[κΚ]ινητό',
      'טלפון',
      'נייד',
      'الهاتف',
      'هاتف',
      'جوال',
      'تلفن',
      'موبایل',
      'فون',
      'फ़ोन',
      'फोन',
      'मोबाइल',
      'ফোন',
      'মোবাইল',
      'தொலைபேசி',
      'ఫోన్',
      'ტელეფონი',
      'հեռախոս',
      '電話(?:番号|號碼)?',
      '电话(?:号码)?',
      '手机号?码?',
      '手機號?碼?',
      '携帯(?:電話)?',
      '전화(?:번호)?',
      '휴대폰',
      'โทร(?:ศัพท์)?',
    ],
    valid: ['0378 3512 345', '(96) 627-277', '581-617-4035', '5321234567', '+49(0)30 1234567'],
    invalid: ['12345', '1111111', '2026-01-31', '[2405664](https://x.test/commit/2405664427)'],
  }),
  ...buildIdentifierDetectors({
    id: 'phone.national',
    detector: 'phone',
    severity: 'medium',
    description: 'Telephone numbers with an area in parentheses, or with the trunk’s 0 and three groups.',
    value:
      '(?<!\\d )(?:\\(0?\\d{1,4}\\)[ -]?\\d{2,17}(?:[ -]\\d{2,12}(?:[ -]\\d{2,6})?)?|0[1-9](?:[ .-]\\d{2}){4}(?! \\d)|(?:0[ -]?)?(?:\\(\\d{3}\\)|[2-5]\\d{2})[ -]\\d{3}[ -]?\\d{2}[ -]?\\d{2}(?! \\d)|0\\d{1,4}[ -]\\d{2,4}[ -]\\d{4}|00[1-9]\\d{0,2}[ -]\\d{1,4}(?:[ -]\\d{2,5}){2,3})',
    check: (code, written) =>
      /^(?:\(|0|\d{3}[ -]\d{3}[ -]\d{2}[ -])/.test(written) &&
      isDialled(written) &&
      extractDigits(code).length >= (written.startsWith('(') ? 8 : 10) &&
      extractDigits(code).length <= 13,
    standalone: {
      anchors: [
        '(?<![\\w.)-])\\(\\d{1,5}\\)[ -]?\\d',
        '(?<![\\w.-])0\\d{1,4}[ -]\\d{1,4}[ -]\\d',
        '(?<![\\w.-])[2-5]\\d{2}[ -]\\d{3}[ -]\\d{2}[ -]\\d',
        '(?<![\\w.-])0[1-9]\\.\\d{2}\\.\\d',
        '(?<![\\w.-])0[ -][(2-5]\\d{2}',
      ],
    },
    names: ['hotline', 'landline'],
    valid: [
      '080-6014-2947',
      '(03) 5327 5996',
      '(88) 684-334',
      '01 42 68 53 00',
      '0 532 123 45 67',
      '532-123-45-67',
    ],
    invalid: ['080-6014-29', '180-6014-2947'],
  }),
  {
    id: 'phone.beside_email',
    detector: 'phone',
    tags: ['personal.pii.phone'],
    severity: 'medium',
    strength: 'cue',
    description:
      'Telephone numbers of seven digits or more right after an e-mail address, as in lists of contacts.',
    anchors: ['@[A-Za-z0-9]'],
    pattern: new RegExp(
      `@[A-Za-z0-9.-]{3,64}(?:['"]?[,;|/]\\s?['"]?| or | and |\\s{1,3})(?<value>${NUMBER})(?!\\w|[.,/-]\\d)`,
    ),
    validate: (value) => extractDigits(value).length >= 7 && isDialled(value),
    examples: {
      hits: ['write to ada@acme.io or «080-6014-2947».', "('ada@acme.io','«09139160713»')"],
      misses: ['write to ada@acme.io or 12345', 'ada@acme.io, 2026-01-31'],
    },
  },
];

function extractDigits(written: string): string {
  return written.replace(/\D/g, '');
}

/** Returns whether a number is no date and has a valid length without its extension. */
function isDialled(written: string): boolean {
  const main = extractDigits(written.replace(/ ?(?:x|ext\.?) ?\d+$/i, ''));
  const isDate = /^(?:19|20)\d{2}[-/.](?:0?\d|1[0-2])[-/.](?:[0-3]?\d)\b/.test(written);
  return main.length >= 6 && main.length <= 15 && !isDate && hasVariedCharacters(main);
}
