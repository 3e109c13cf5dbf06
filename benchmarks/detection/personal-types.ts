/**
 * The names that labelled corpora use, and the detectors that are right for them. A name that is not here is
 * `COUNTRY_KIND`: right is a rule of that country, or the general one of the kind.
 */
const TYPES: Readonly<Record<string, RegExp>> = {
  ABA_ROUTING_NUMBER: /^us\.aba/,
  US_ROUTING: /^us\.aba/,
  BIC: /^any\.bic/,
  BTC_ADDRESS: /^crypto\.(?:base58|bech32)/,
  ETH_ADDRESS: /^crypto\.ethereum/,
  CREDIT_CARD: /^card\./,
  EMAIL: /^email\./,
  IBAN: /^iban\./,
  IMEI: /^any\.imei/,
  IP: /^ip\./,
  MAC: /^any\.mac/,
  PHONE: /^phone\./,
  TR_PHONE_NUMBER: /^phone\./,
  URL: /^url\./,
  US_SSN: /^ssn\./,
  US_BANK_NUMBER: /^any\.bank_account/,
  UK_NHS: /^gb\.nhs/,
  UK_POSTCODE: /^gb\.postcode/,
  UK_DRIVING_LICENCE: /^(?:gb|any)\.driving/,
  MEDICAL_LICENSE: /^us\.dea/,
  ES_NIF: /^(?:es\.dni|pt\.nif|ar\.dni)/,
  ES_NIE: /^es\.(?:nie|dni)/,
  ES_CCC: /^es\.ccc/,
  FR_VAT: /^(?:any|fr)\.vat/,
  DE_VAT: /^any\.vat/,
  AR_DNI: /^ar\.dni|^es\.dni/,
  KR_FRN: /^kr\.rrn/,
  IN_VOTER: /^in\.epic/,
  NZ_BANK: /^(?:nz\.bank|any\.bank)/,
};

/** Families by what a name ends with. */
const KINDS: readonly (readonly [RegExp, RegExp])[] = [
  [/PASSPORT$/, /^passport$/],
  [/(?:DRIVER_LICENSE|DRIVING_LICENCE)$/, /^driving_licence$/],
  [/VEHICLE_REGISTRATION$/, /^vehicle$/],
  [/(?:TAX_ID|TAX_NUMBER)$/, /^(?:tax_id|national_id|vat_id|business_id)$/],
  [/(?:ID_CARD|IDENTITY_CARD|NATIONAL_ID|ID_NUMBER)$/, /^(?:national_id|tax_id|passport)$/],
];

/** Whether a finding has the type that the corpus gives the span: the rule's, its country's or its family's. */
export function isTypeRight(type: string, rule_id: string, detector: string): boolean {
  const known = TYPES[type];
  if (known !== undefined) return known.test(rule_id);
  for (const [name, family] of KINDS) if (name.test(type)) return family.test(detector);
  const country = type.slice(0, 2).toLowerCase().replace('uk', 'gb');
  return rule_id.startsWith(`${country === 'si' && type === 'SI_EMSO' ? 'yu' : country}.`);
}
