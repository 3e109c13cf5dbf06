import { hasVariedCharacters } from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/**
 * Numbers of people, accounts and health services in the United States and Canada. Social security numbers are in
 * ssn.ts.
 */
export const northAmerica: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'us.itin',
    detector: 'tax_id',
    description: 'US individual taxpayer numbers: 9, and the groups that are given out.',
    value: '9\\d{2}[ -]?(?:5\\d|6[0-5]|7\\d|8[0-8]|9[0-24-9])[ -]?\\d{4}',
    standalone: {
      anchors: ['(?<![\\w.-])\\d{3}-\\d{2}-\\d'],
      value: '9\\d{2}-(?:5\\d|6[0-5]|7\\d|8[0-8]|9[0-24-9])-\\d{4}',
    },
    names: ['itin', 'individual taxpayer'],
    valid: ['912-90-3456', '912903456'],
    invalid: ['812-90-3456', '912-93-3456'],
  }),
  ...buildIdentifierDetectors({
    id: 'us.atin',
    detector: 'tax_id',
    description: 'US taxpayer numbers of pending adoptions, nine digits.',
    value: '\\d{3}-?\\d{2}-?\\d{4}',
    names: ['atin', 'adoption taxpayer'],
    valid: ['123-45-6789', '123456789'],
    invalid: ['123-45-678', '1234-5-6789'],
  }),
  ...buildIdentifierDetectors({
    id: 'us.ptin',
    detector: 'tax_id',
    severity: 'medium',
    description: 'US numbers of tax preparers: P and eight digits.',
    value: 'P-?\\d{8}',
    standalone: { anchors: ['(?i)(?<![\\w.-])p-?0\\d{5}'], value: 'P-?0\\d{7}' },
    names: ['ptin', 'preparer tax'],
    valid: ['P00634642'],
    invalid: ['X00634642', 'P0063464'],
  }),
  ...buildIdentifierDetectors({
    id: 'us.ein',
    detector: 'business_id',
    severity: 'low',
    description: 'US employer numbers: a campus prefix and seven digits.',
    value: '(?:0[1-6]|1[0-6]|2[0-7]|3\\d|4[0-8]|5\\d|6[0-8]|7[1-7]|8[0-8]|9[0-589])-?\\d{7}',
    names: ['ein', 'employer identification', 'fein'],
    valid: ['91-1144442', '911144442'],
    invalid: ['07-1144442', '91-114444'],
  }),
  ...buildIdentifierDetectors({
    id: 'us.aba_routing',
    detector: 'bank_account',
    severity: 'medium',
    description: 'US bank routing numbers: a Federal Reserve prefix and a check digit (weights 3, 7, 1).',
    value: '\\d{4}-?\\d{4}-?\\d',
    names: ['aba', 'routing', 'routing transit', 'rtn', 'bank routing'],
    standalone: {
      anchors: ['(?<![\\w.-])\\d{4}-\\d{4}-\\d'],
      value: '\\d{4}-\\d{4}-\\d',
      check: (code) => isAbaPrefix(code),
    },
    valid: ['1110-0002-5', '111000025'],
    invalid: ['111000026', '11100002'],
  }),
  ...buildIdentifierDetectors({
    id: 'us.npi',
    detector: 'health_id',
    severity: 'medium',
    description: 'US national provider numbers with a Luhn digit after 80840.',
    value: '[12]\\d{9}',
    check: (code) => isLuhn(`80840${code}`),
    names: ['npi', 'national provider'],
    valid: ['1234567893'],
    invalid: ['1234567894', '3234567893'],
  }),
  ...buildIdentifierDetectors({
    id: 'us.mbi',
    detector: 'health_id',
    description: 'US Medicare beneficiary numbers: eleven characters, letters without S, L, O, I, B and Z.',
    value:
      '[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\\d-?[AC-HJKMNP-RT-Y]{2}\\d{2}',
    standalone: { anchors: ['(?i)(?<![\\w.-])\\d[a-z][a-z0-9]\\d-?[a-z][a-z0-9]\\d'] },
    names: ['mbi', 'medicare beneficiary', 'medicare', 'medicare id'],
    valid: ['1EG4-TE5-MK73', '1EG4TE5MK73'],
    invalid: ['1SG4-TE5-MK73', '1EG4-TE5-MK7'],
  }),
  ...buildIdentifierDetectors({
    id: 'us.dea',
    detector: 'health_id',
    severity: 'medium',
    description:
      'US certificates for controlled substances (DEA): two letters, six digits and a check digit.',
    value: '[ABFGKLMPRSTUXE][A-Z9]\\d{7}',
    check: (code) => hasVariedCharacters(code.slice(2)),
    // Alone, `KB` and seven digits are an article of Microsoft's Knowledge Base.
    standalone: {
      anchors: ['(?i)(?<![\\w.-])[a-z]{2}\\d{3}', '(?i)(?<![\\w.-])[a-z]\\d{6}'],
      value: '(?!KB)[ABFGKLMPRSTUXE][A-Z9]\\d{7}',
    },
    names: ['dea', 'dea number', 'certificate number', 'medical license', 'medical licence'],
    valid: ['AB1234563'],
    invalid: ['AB1234564', 'A1234563'],
  }),
  ...buildIdentifierDetectors({
    id: 'ca.sin',
    detector: 'national_id',
    description: 'Canadian social insurance numbers with a Luhn digit; alone only with dashes.',
    value: '[1-79]\\d{2}[ -]?\\d{3}[ -]?\\d{3}',
    standalone: { anchors: ['(?<![\\w.-])\\d{3}-\\d{3}-\\d'], value: '[1-79]\\d{2}-\\d{3}-\\d{3}' },
    names: ['sin', 'social insurance', "num[ée]ro d'assurance sociale", 'nas'],
    valid: ['123-456-782', '123456782', '130 692 544'],
    invalid: ['123-456-783', '823-456-783'],
  }),
  ...buildIdentifierDetectors({
    id: 'ca.bn',
    detector: 'business_id',
    severity: 'low',
    description: 'Canadian business numbers with a Luhn digit.',
    value: '\\d{5} ?\\d{4}(?: ?R[CMPTZ] ?\\d{4})?',
    names: ['business number', 'bn'],
    valid: ['12302 6635', '123026635RC0001'],
    invalid: ['12302 6636', '12302 663'],
  }),
  ...buildIdentifierDetectors({
    id: 'ca.health_card',
    detector: 'health_id',
    description: 'Health cards of Canadian provinces next to their names.',
    value: '\\d{4}[ -]?\\d{3}[ -]?\\d{3}(?:[ -]?[A-Z]{2})?|[A-Z]{4} ?\\d{4} ?\\d{4}',
    names: ['health card', 'ohip', 'ramq', "carte d'assurance maladie", 'phn'],
    valid: ['1234-567-890-AB', 'ABCD 1234 5678'],
    invalid: ['1234-567-89', 'ABC 1234 5678'],
  }),
  ...buildIdentifierDetectors({
    id: 'ca.postal_code',
    detector: 'postal_address',
    severity: 'low',
    description: 'Canadian postal codes, in upper case and with a space, or next to their name.',
    value: '[ABCEGHJ-NPRSTVXY]\\d[ABCEGHJ-NPRSTV-Z][ -]?\\d[ABCEGHJ-NPRSTV-Z]\\d',
    standalone: {
      anchors: ['(?i)(?<![\\w.-])[a-z]{1,2}\\d[a-z] \\d'],
      check: (_, written) => written === written.toUpperCase(),
    },
    names: ['postal code', 'code postal'],
    valid: ['K1A 0B1', 'K1A0B1'],
    invalid: ['D1A 0B1', 'K1A 0B'],
  }),
  ...buildIdentifierDetectors({
    id: 'ca.bc_phn',
    detector: 'health_id',
    description: 'Personal health numbers of British Columbia: 9, a serial and a check digit (mod 11).',
    value: '9\\d{3}[ -]?\\d{3}[ -]?\\d{3}',
    names: ['phn', 'personal health number', 'bc services card'],
    valid: ['9698 658 215', '9698658215'],
    invalid: ['9698 648 215', '5736504210'],
  }),
];

/** Ranges: 00-12 are Federal Reserve districts, 21-32 thrifts, 61-72 electronic, 80 traveler's checks. */
function isAbaPrefix(code: string): boolean {
  const prefix = Number(code.slice(0, 2));
  return prefix <= 12 || (prefix >= 21 && prefix <= 32) || (prefix >= 61 && prefix <= 72) || prefix === 80;
}
