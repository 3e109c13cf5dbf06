import { isMod97 } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';

/**
 * Countries by the total length of their IBANs: those in release 99 of the IBAN registry, and those in Africa and
 * Iran whose banks use such numbers without being in it.
 */
const COUNTRIES: Readonly<Record<number, string>> = {
  15: 'NO',
  16: 'BE',
  18: 'DK FI FK FO GL NL SD',
  19: 'MK SI',
  20: 'AT BA EE KZ LT LU MN XK',
  21: 'CH HR LI LV',
  22: 'BG BH CR DE GB GE IE ME RS VA',
  23: 'AE GI IL IQ OM SO TL',
  24: 'AD CZ ES MD PK RO SA SE SK TN VG',
  25: 'AO CV GW LY MZ PT ST',
  26: 'DZ IR IS TR',
  27: 'BI CF CG CM DJ FR GA GQ KM MG TD GR IT MC MR SM',
  28: 'AL AZ BF BJ BY CI CY DO GT HN HU LB MA ML NE NI PL SN SV TG',
  29: 'BR EG PS QA UA',
  30: 'JO KW MU YE',
  31: 'MT SC',
  32: 'LC',
  33: 'RU',
};

export const iban: readonly Detector[] = [
  {
    id: 'iban.number',
    detector: 'iban',
    tags: ['personal.pii.iban', 'personal.financial.iban'],
    severity: 'high',
    strength: 'proof',
    description:
      'International bank account numbers (ISO 13616): a country, its length, and the check digits (mod 97).',
    anchors: ['(?i)(?<![A-Za-z0-9])[A-Z]{2}\\d{2}'],
    pattern: buildCountryPattern(),
    validate: (value) => isMod97(value.replace(/[ -]/g, '')),
    examples: {
      hits: [
        'IBAN «DE89 3704 0044 0532 0130 00» please',
        '«GB29NWBK60161331926819»',
        'iban: «nl91abna0417164300»',
      ],
      misses: [
        'DE88 3704 0044 0532 0130 00',
        'DE89 3704 0044 0532 0130',
        'XX89 3704 0044 0532 0130 00',
        '0b2fb7ed-ad49-4adf-977c-ba2f666b9859',
      ],
    },
  },
  {
    id: 'iban.disguised',
    detector: 'iban',
    tags: ['personal.pii.iban', 'personal.financial.iban'],
    severity: 'high',
    strength: 'proof',
    description:
      'International bank account numbers whose letters are exchanged (rot13) or that are written from their end, with right check digits.',
    anchors: ['(?<![A-Za-z0-9])[A-Z]{2}\\d{2}[A-Z0-9]{4}', '\\d\\d[A-Z]{2}[^A-Za-z0-9]'],
    back: { over: '[A-Z0-9]', units_max: 32 },
    pattern: /(?<![A-Za-z0-9])[A-Z0-9]{15,33}(?![A-Za-z0-9])/,
    validate: isDisguised,
    examples: {
      hits: ['in rot13: «QR89370400440532013000» ok', 'from its end «00031023504400407398ED» ok'],
      misses: [
        'DE89370400440532013000',
        'QR88370400440532013000',
        'AB12CDEFGHIJKLMNOPQ',
        '000310235044004073 98ED',
      ],
    },
  },
];

function isDisguised(value: string): boolean {
  if (isAccount(value)) return false;
  const turned = value.replace(/[A-Z]/g, (letter) =>
    String.fromCharCode(((letter.charCodeAt(0) - 52) % 26) + 65),
  );
  return isAccount(turned) || isAccount([...value].reverse().join(''));
}

function isAccount(value: string): boolean {
  return (
    COUNTRIES[value.length]?.split(' ').includes(value.slice(0, 2)) === true &&
    /^..\d\d/.test(value) &&
    isMod97(value)
  );
}

function buildCountryPattern(): RegExp {
  const shapes = Object.entries(COUNTRIES).map(
    ([length, countries]) =>
      `(?:${countries.replaceAll(' ', '|')})\\d{2}(?:[ -]?[A-Z0-9]){${Number(length) - 4}}`,
  );
  return new RegExp(`(?<![\\da-f]{3}-)(?:${shapes.join('|')})(?![A-Z0-9])`, 'i');
}
