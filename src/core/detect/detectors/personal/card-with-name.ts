import { hasVariedCharacters } from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/**
 * Payment cards of unusual issuers and lengths. Only a name next to them distinguishes them from other numbers with a
 * Luhn digit.
 */
export const cardWithName: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'card.beside_its_name',
    detector: 'credit_card',
    description: 'Payment card numbers of 12 to 19 digits with a right Luhn digit, whatever their issuer.',
    value: '[2-9]\\d{3}(?:[ -]?\\d){8,15}',
    check: (code) => isLuhn(code) && hasVariedCharacters(code),
    names: [
      'card',
      'credit card',
      'debit card',
      'cc',
      'visa',
      'mastercard',
      'maestro',
      'amex',
      'kreditkarte',
      'carte bancaire',
      'tarjeta',
      'carta di credito',
      'cart[ãa]o',
      'betaalkaart',
      'bankkort',
      'kort',
      'kortti',
      'kaart',
      'kart[aey]?',
      'kartica',
      'kortel[ėe]',
      'k[áa]rtya',
      'kartu',
      'kad',
      'th[ẻ]',
      '[кК]арта',
      '[кК]артка',
      '[кК]артица',
      '[κΚ]άρτα',
      'כרטיס(?: אשראי)?',
      'بطاقة',
      'البطاقة',
      'کارت',
      'कार्ड',
      'কার্ড',
      'カード(?:番号)?',
      '카드(?:번호)?',
      '信用卡',
      '卡号',
      '卡號',
      'บัตร(?:เครดิต)?',
    ],
    valid: ['6304 5661 2963', '587428561654'],
    invalid: ['6304 5661 2964', '58742856165'],
  }),
];
