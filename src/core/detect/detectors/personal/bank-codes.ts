import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/** Bank codes and account numbers that any country may use. Those of one country are in the file of its region. */
export const bankCodes: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'any.bic',
    detector: 'bank_account',
    severity: 'low',
    description: 'Bank identifier codes (ISO 9362): bank, country and place, with a branch or without.',
    value: '[A-Z]{4} ?[A-Z]{2} ?[A-Z0-9]{2}(?: ?[A-Z0-9]{3})?',
    is_exact_case: true,
    check: (code) => COUNTRIES.has(code.slice(4, 6)),
    names: ['bic', 'swift', 'bic/swift', 'swift code', 'bic code'],
    valid: ['DEUTDEFF', 'AGRIFRPP882'],
    invalid: ['DEUTXXFF', 'DEUTDEF'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.bank_account',
    detector: 'bank_account',
    description: 'Account numbers of seven to eighteen digits next to a name for them.',
    value: '\\d{7,18}|\\d{2,6}(?:[ -]\\d{2,8}){1,4}',
    check: (code) => code.length >= 7 && code.length <= 20,
    names: [
      'bank account',
      'account number',
      'account no',
      'acct no',
      'acct number',
      'kontonummer',
      'konto-nr',
      'cuenta bancaria',
      'compte bancaire',
      'conto corrente',
      'rekeningnummer',
      'iban',
    ],
    valid: ['945456787654', '12-3456-7890123-00'],
    invalid: ['is 12', '123456'],
  }),
];

const COUNTRIES = new Set(
  (
    'AD AE AF AG AI AL AM AO AR AS AT AU AW AZ BA BB BD BE BF BG BH BI BJ BM BN BO BR BS BT BW BY BZ CA CD CF CG CH ' +
    'CI CK CL CM CN CO CR CU CV CW CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH ' +
    'GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KR KW ' +
    'KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC ' +
    'NE NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SI SK SL ' +
    'SM SN SO SR ST SV SX SY SZ TC TD TG TH TJ TL TM TN TO TR TT TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WF WS ' +
    'XK YE YT ZA ZM ZW'
  ).split(' '),
);
