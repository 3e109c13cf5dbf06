import { allDetectors } from '../../core/detect/detectors/all.ts';

/**
 * The type names of labelled corpora, and the detectors that are correct for each. This map is published
 * (docs/reference/type-names.md), so that anyone can reproduce the figures. A pattern is the beginning of a rule's id:
 * `es.dni` includes `es.dni_beside_its_name`.
 */
export const TYPE_PATTERNS: Readonly<Record<string, readonly string[]>> = {
  ABA_ROUTING_NUMBER: ['us.aba_routing'],
  AR_DNI: ['ar.dni', 'any.national_id'],
  BIC: ['any.bic'],
  BTC_ADDRESS: ['crypto.base58', 'crypto.bech32'],
  CREDIT_CARD: ['card.'],
  CR_CPF: ['cr.cedula'],
  DATE_OF_BIRTH: ['any.date_of_birth'],
  DE_SOCIAL_SECURITY: ['de.rvnr'],
  EE_IK: ['ee.isikukood'],
  EMAIL: ['email.'],
  ES_NIF: ['es.dni', 'es.nie', 'es.cif'],
  ETH_ADDRESS: ['crypto.ethereum'],
  IBAN: ['iban.'],
  IMEI: ['any.imei'],
  IN_VOTER: ['in.epic'],
  IP: ['ip.'],
  IT_FISCAL_CODE: ['it.codice_fiscale'],
  KR_FRN: ['kr.rrn'],
  MAC: ['any.mac'],
  MEDICAL_LICENSE: ['us.dea'],
  NZ_BANK: ['nz.bank_account', 'any.bank_account'],
  PERSON: ['any.person'],
  PHONE: ['phone.'],
  SI_EMSO: ['yu.jmbg'],
  TH_ID: ['th.pin'],
  TR_PHONE_NUMBER: ['phone.'],
  US_BANK_NUMBER: ['any.bank_account'],
  US_ROUTING: ['us.aba_routing'],
  US_SSN: ['ssn.us'],
};

/**
 * Kinds of numbers by the end of a type name. A rule is correct if it belongs to one of these families, and to the
 * name's country or to no country. Many countries use one number as the national and the tax number.
 */
export const KIND_FAMILIES: Readonly<Record<string, readonly string[]>> = {
  PASSPORT: ['passport'],
  DRIVER_LICENSE: ['driving_licence'],
  DRIVING_LICENCE: ['driving_licence'],
  VEHICLE_REGISTRATION: ['vehicle'],
  VAT: ['vat_id'],
  TAX_ID: ['tax_id', 'national_id', 'vat_id', 'business_id'],
  TAX_NUMBER: ['tax_id', 'national_id', 'vat_id', 'business_id'],
  ID_CARD: ['national_id', 'tax_id'],
  IDENTITY_CARD: ['national_id', 'tax_id'],
  NATIONAL_ID: ['national_id', 'tax_id'],
  ID_NUMBER: ['national_id', 'tax_id'],
};

/**
 * Returns whether a rule is correct for a type name. The first of these that knows the name decides: its row in
 * `TYPE_PATTERNS`, the rule of the same name (`AR_CUIT`: `ar.cuit`), its kind. For any other name, every rule of its
 * country is correct.
 * @param name as corpora write it, such as `PL_PESEL`; `UK` and `GB` are the same
 * @param detector the family of the rule
 */
export function isTypeCorrect(name: string, ruleId: string, detector: string): boolean {
  if (Object.hasOwn(TYPE_PATTERNS, name))
    return TYPE_PATTERNS[name]!.some((pattern) => ruleId.startsWith(pattern));
  if (name[2] !== '_') return false;
  const country = name.slice(0, 2).toLowerCase().replace('uk', 'gb');
  const same = `${country}.${name.slice(3).toLowerCase()}`;
  if (ruleId.startsWith(same)) return true;
  const isOfCountry = ruleId.startsWith(`${country}.`);
  const kind = Object.keys(KIND_FAMILIES).find((end) => name.endsWith(`_${end}`));
  if (kind === undefined) return isOfCountry && !isRule(same);
  return KIND_FAMILIES[kind]!.includes(detector) && (isOfCountry || ruleId.startsWith('any.'));
}

/** The number of cached lookups. Names come from a file, so their number is unbounded. */
const CACHED_MAX = 10_000;
const request = new Map<string, boolean>();

/** Returns whether any rule's id begins with this text. */
function isRule(beginning: string): boolean {
  const known = request.get(beginning) ?? allDetectors.some(({ id }) => id.startsWith(beginning));
  if (request.size < CACHED_MAX) request.set(beginning, known);
  return known;
}
