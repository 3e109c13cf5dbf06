import {
  hasValidDay,
  hasVariedCharacters,
  isValidDay,
  parseTwoDigits,
  readDigit,
  sumWeighted,
  sumWeightedDigits,
} from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

const LONG_NUMBER = '(?<![\\w.-])\\d{8}';
const DASHED_DATE = '(?<![\\w.-])\\d{6}-\\d{3}';

/** Numbers of people in China, Hong Kong, Macao, Taiwan, Japan and Korea. */
export const eastAsia: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'cn.ric',
    detector: 'national_id',
    description:
      'Chinese identity numbers: region, birth date, serial and a check character (ISO 7064 mod 11-2).',
    value: '[1-9]\\d{5}(?:18|19|20)\\d{9}[\\dX]',
    check: (code) => hasValidDay(code, 10, 12),
    standalone: { anchors: [LONG_NUMBER] },
    names: ['resident identity card', 'chinese id', '身份证', '身份證'],
    valid: ['11010519491231002X', '440524188001010014'],
    invalid: ['110105194912310021', '110105194913310027'],
  }),
  ...buildIdentifierDetectors({
    id: 'cn.ric_old',
    detector: 'national_id',
    description: 'Chinese identity numbers in the old form: region, birth date and serial, fifteen digits.',
    value: '[1-9]\\d{14}',
    check: (code) => hasValidDay(code, 8, 10),
    names: ['resident identity card', 'chinese id', 'identity card number', '身份证'],
    valid: ['110101491001001'],
    invalid: ['110101491301001', '11010149100100'],
  }),
  ...buildIdentifierDetectors({
    id: 'hk.hkid',
    detector: 'national_id',
    description: 'Hong Kong identity numbers: one or two letters, six digits and a check character (mod 11).',
    value: '[A-Z]{1,2}\\d{6}[[(]?[\\dA][\\])]?',
    check: (code) => isHkid(code.replace(/[[\]()]/g, '')),
    standalone: {
      anchors: ['(?i)(?<![\\w.-])[a-z]\\d{6}'],
      value: '[A-Z]{1,2}\\d{6}(?:\\([\\dA]\\)|\\[[\\dA]\\])',
    },
    names: ['hkid', 'hong kong id', 'identity card number', '身份證'],
    valid: ['A123456(3)', 'A1234563', 'AB987654(3)'],
    invalid: ['A123456(4)', 'A12345(3)'],
  }),
  ...buildIdentifierDetectors({
    id: 'mo.bir',
    detector: 'national_id',
    description: 'Macao identity numbers: 1, 5 or 7, six digits and one in parentheses.',
    value: '[157]\\d{6}\\(\\d\\)|[157]/\\d{6}/\\d',
    standalone: { anchors: ['(?<![\\w.-])\\d{7}\\(', '(?<![\\w.-])\\d/\\d{6}'] },
    names: ['macau id', 'macao id', 'bir'],
    valid: ['1234567(8)', '5/123456/7'],
    invalid: ['2234567(8)', '123456(8)'],
  }),
  ...buildIdentifierDetectors({
    id: 'tw.id',
    detector: 'national_id',
    description:
      'Taiwanese identity and residence numbers: a letter, sex, serial and a check digit (mod 10).',
    value: '[A-Z][1289A-D]\\d{8}',
    check: isTaiwanese,
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]\\d{6}'], value: '[A-Z][1289]\\d{8}' },
    names: ['taiwan id', 'arc number', 'identity card number', '身分證'],
    valid: ['A123456789', 'F131104093'],
    invalid: ['A123456788', 'A323456789'],
  }),
  ...buildIdentifierDetectors({
    id: 'jp.my_number',
    detector: 'national_id',
    description: 'Japanese individual numbers (My Number) with a check digit (mod 11).',
    value: '\\d{4}[ -]?\\d{4}[ -]?\\d{4}',
    standalone: {
      anchors: ['(?<![\\w.-])\\d{4} \\d{4} \\d'],
      value: '(?<!\\d )\\d{4} \\d{4} \\d{4}(?! \\d)',
    },
    names: ['my number', 'mynumber', 'マイナンバー', '個人番号'],
    valid: ['6214 9832 0257', '621498320257'],
    invalid: ['6214 9832 0258', '6214 9832 025'],
  }),
  ...buildIdentifierDetectors({
    id: 'jp.corporate_number',
    detector: 'business_id',
    severity: 'low',
    description: 'Japanese corporate numbers with a check digit (mod 9).',
    value: '[1-9]\\d{12}',
    names: ['corporate number', '法人番号'],
    valid: ['5835678256246'],
    invalid: ['6835678256246', '583567825624'],
  }),
  ...buildIdentifierDetectors({
    id: 'kr.rrn',
    detector: 'national_id',
    description:
      'Korean resident and foreigner registration numbers: a birth date, century and sex, a serial; without a dash with the sum (mod 11) that those until 2020 have.',
    value: '\\d{6}-?[0-9]\\d{6}',
    check: (code) => hasValidDay(code, 2, 4),
    standalone: {
      anchors: [DASHED_DATE, LONG_NUMBER],
      value: '\\d{6}-?[1-8]\\d{6}',
      check: (code, written) => hasValidDay(code, 2, 4) && (written.includes('-') || isRrn(code)),
    },
    names: [
      'rrn',
      'frn',
      'resident registration number',
      'foreign registration number',
      '주민등록번호',
      '외국인등록번호',
      '주민번호',
    ],
    valid: ['971013-1019902', '9710131019902'],
    invalid: ['971313-1019902', '97101-1019902'],
  }),
  ...buildIdentifierDetectors({
    id: 'kr.brn',
    detector: 'business_id',
    severity: 'low',
    description: 'Korean business registration numbers with a check digit.',
    value: '\\d{3} ?-? ?\\d{2} ?-? ?\\d{5}',
    standalone: { anchors: ['(?<![\\w.-])\\d{3}-\\d{2}-\\d'], value: '[1-9]\\d{2}-(?!00)\\d{2}-\\d{5}' },
    names: ['brn', 'business registration number', '사업자등록번호'],
    valid: ['116-82-00276', '1168200276'],
    invalid: ['116-82-0027'],
  }),
  ...buildIdentifierDetectors({
    id: 'kr.passport',
    detector: 'passport',
    description: 'Korean passport numbers.',
    value: '[MSRODG]\\d{8}|[MSRODG]\\d{3}[A-Z]\\d{4}',
    names: ['korean passport', '여권번호', '여권'],
    valid: ['M12345678', 'M123A4567'],
    invalid: ['X12345678', 'M1234567'],
  }),
  ...buildIdentifierDetectors({
    id: 'kr.driving_licence',
    detector: 'driving_licence',
    description: 'Korean driving licences: region, year, serial and check digits.',
    value: '(?:1[1-9]|2[0-8])-\\d{2}-\\d{6}-\\d{2}',
    standalone: { anchors: ['(?<![\\w.-])\\d{2}-\\d{2}-\\d{3}'] },
    names: ['korean driver', '운전면허', '면허번호'],
    valid: ['11-22-333333-44'],
    invalid: ['31-22-333333-44', '11-22-33333-44'],
  }),
  ...buildIdentifierDetectors({
    id: 'cn.uscc',
    detector: 'business_id',
    severity: 'low',
    description:
      'Chinese credit codes of organizations: department, kind, region, code and a check character (mod 31).',
    value: '[159NY][0-9A-HJ-NPQRTUWXY]\\d{6}[0-9A-HJ-NPQRTUWXY]{10}',
    check: isCreditCode,
    standalone: {
      anchors: ['(?<![\\w.-])[159]\\d[1-8]\\d{5}'],
      value: '[159][1239]\\d{6}[0-9A-HJ-NPQRTUWXY]{10}',
    },
    names: ['uscc', '统一社会信用代码', '統一社會信用代碼'],
    valid: ['91110000600037341L'],
    invalid: ['91110000600037342L', '9111000060003734'],
  }),
  ...buildIdentifierDetectors({
    id: 'jp.driving_licence',
    detector: 'driving_licence',
    description: 'Japanese driving licences: twelve digits.',
    value: '\\d{12}',
    check: hasVariedCharacters,
    names: ['japanese driving licence', '運転免許', '免許証番号'],
    valid: ['301234567890'],
    invalid: ['30123456789', '111111111111'],
  }),
  ...buildIdentifierDetectors({
    id: 'mn.register',
    detector: 'national_id',
    description: 'Mongolian register numbers: two letters, a birth date and a serial.',
    value: '[A-ZА-ЯӨҮЁ]{2}\\d{8}',
    check: (code) => isValidDay(parseTwoDigits(code, 4) % 20, parseTwoDigits(code, 6)),
    names: ['mongolian id', '[рР]егистрийн дугаар', '[рР]егистр'],
    valid: ['УБ90051512'],
    invalid: ['УБ90139912', 'УБ9005151'],
  }),
  ...buildIdentifierDetectors({
    id: 'tw.ubn',
    detector: 'business_id',
    severity: 'low',
    description: 'Taiwanese numbers of businesses (UBN): eight digits, whose weighted digits 5 divides.',
    value: '\\d{8}',
    check: isBusinessNumber,
    names: ['ubn', '統一編號', '统一编号', '統編'],
    valid: ['00501503', '10458575'],
    invalid: ['00501502', '0050150'],
  }),
];

function isHkid(code: string): boolean {
  const body = code.slice(0, -1).padStart(8, ' ');
  const sum = Array.from(body).reduce((total, char, at) => {
    const value = char === ' ' ? 36 : Number.parseInt(char, 36);
    return total + value * (9 - at);
  }, 0);
  return (sum + Number.parseInt(code.at(-1)!, 36)) % 11 === 0;
}

/** Values of the letters, in alphabetical order. */
const TAIWAN_LETTERS = [
  10, 11, 12, 13, 14, 15, 16, 17, 34, 18, 19, 20, 21, 22, 35, 23, 24, 25, 26, 27, 28, 29, 32, 30, 31, 33,
];

function isTaiwanese(code: string): boolean {
  const letter = TAIWAN_LETTERS[code.charCodeAt(0) - 65]!;
  const second = code[1]! > '9' ? TAIWAN_LETTERS[code.charCodeAt(1) - 65]! % 10 : readDigit(code, 1);
  const digits = `${letter}${second}${code.slice(2)}`;
  return sumWeighted(digits, [1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1]) % 10 === 0;
}

function isRrn(code: string): boolean {
  return (11 - (sumWeighted(code, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11)) % 10 === readDigit(code, 12);
}

const CREDIT_CHARACTERS = '0123456789ABCDEFGHJKLMNPQRTUWXY';
const CREDIT_WEIGHTS = [1, 3, 9, 27, 19, 26, 16, 17, 20, 29, 25, 13, 8, 24, 10, 30, 28];

function isCreditCode(code: string): boolean {
  const sum = CREDIT_WEIGHTS.reduce(
    (total, weight, at) => total + weight * CREDIT_CHARACTERS.indexOf(code[at]!),
    0,
  );
  return CREDIT_CHARACTERS[(31 - (sum % 31)) % 31] === code[17];
}

/** Returns whether a number is one of a business. The product of a 7 at the seventh place counts as 10 or 1. */
function isBusinessNumber(code: string): boolean {
  const sum = sumWeightedDigits(code, [1, 2, 1, 2, 1, 2, 4, 1]);
  return (sum % 5 === 0 || (code[6] === '7' && (sum + 1) % 5 === 0)) && hasVariedCharacters(code);
}
