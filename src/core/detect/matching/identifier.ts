import type { Severity, Tag } from '../../types/index.ts';
import type { Detector } from './detector.ts';
import { buildDigitProfile } from './digit-profile.ts';
import { memoizeValue } from './lazy-value.ts';
import {
  buildExactNamedPattern,
  buildKeyPattern,
  buildNameAnchors,
  buildNamedPattern,
  buildWholeMatcher,
  spellName,
} from './named-value.ts';
import { normalizeCode } from './normalize-code.ts';
import { getNumberCheck } from './number-checks.ts';

interface StandaloneForm {
  readonly anchors: readonly string[];
  readonly value?: string;
  readonly check?: IdentifierCheck;
}

/** Receives the value in upper case without separators, and as it was written. */
type IdentifierCheck = (code: string, written: string) => boolean;

/** A kind of number that identifies people or their accounts. */
export interface Identifier {
  /** Country and name, `br.cpf`. The detector for the value next to its name is `br.cpf_beside_its_name`. */
  readonly id: string;
  readonly detector: keyof typeof FAMILY_TAGS;
  readonly severity?: Severity;
  /** One sentence: what it is and how it is checked. */
  readonly description: string;
  /** Source of a pattern without capturing groups, anchored at both ends and case-insensitive. */
  readonly value: string;
  /** A condition in addition to the check digits that `number-checks.ts` has for this id. */
  readonly check?: IdentifierCheck;
  /** The most that a try next to the name costs, if the value has many forms; see `Detector`. */
  readonly try_work?: number;
  /** The cost of the check per unit of a value, if it is more than sums; see `Detector`. */
  readonly check_work?: number;
  /** True if the value is case-sensitive. */
  readonly is_exact_case?: boolean;
  /** Names in anchor notation. The first is used in examples, so it contains no special character. */
  readonly names: readonly [string, ...string[]];
  /**
   * For values that are evidence by themselves: anchors at which the value is searched without a name, and a stricter
   * form.
   */
  readonly standalone?: StandaloneForm;
  /** Valid values (the first also without a name, if that is allowed), and invalid ones. */
  readonly valid: readonly [string, ...string[]];
  readonly invalid: readonly [string, ...string[]];
}

/** The families, each with its tag besides `personal.pii`. */
const FAMILY_TAGS = {
  national_id: null,
  tax_id: null,
  business_id: null,
  vat_id: null,
  passport: null,
  driving_licence: null,
  vehicle: null,
  device_id: null,
  location: null,
  postal_address: null,
  date_of_birth: null,
  person_name: null,
  phone: null,
  credit_card: 'financial',
  health_id: 'phi',
  bank_account: 'financial',
  crypto_wallet: 'financial',
} as const;

/**
 * Words for a number of something else, before a number without separators. A sum that one of ten or eleven numbers
 * passes is no evidence after them.
 */
const OTHER_NUMBER =
  '(?<!\\b(?:build|batch|run|job|task|order|invoice|ticket|issue|case|commit|revision|rev|version|release|seed|offset|size|length|count|total|bytes|timestamp|ts|epoch|duration|timeout|port|pid|inode|block|slot|sku|ean|upc|gtin|barcode|lot|part|serial|model|product|item|article|tracking|shipment|parcel|transaction|txn|trace|span|request|event|sequence|seq|index|hash|crc|checksum|nonce|bestellung|rechnung|commande|facture|pedido|factura|ordine|fattura|zam[oó]wienie|заказ)' +
  '["\'`]?[ \\t]{0,2}(?:[:=#]|no\\.?|nr\\.?|number|id|is)?[ \\t]{0,2}["\'#]?)';
/** A unit or an operator makes a number without separators a quantity. */
const QUANTITY =
  '(?! ?(?:ms|ns|us|\u00b5s|sec(?:ond)?s?|bytes?|[KMGT]i?B|[kmgt]b|rows|items|%|[*^]|<<|>>|&)(?![A-Za-z]))';

/** After a name, a value is tried between any two of a dozen words and signs. */
const TRY_WORK = 48;
/** Default cost of a check, which weighs and adds up digits. */
const CHECK_WORK = 3;

/** Prefixes of ids that are not countries. */
const WORLDWIDE = new Set(['any', 'card', 'crypto', 'phone']);

/**
 * Builds the detectors for a kind of number: for the value alone, if that is enough evidence, and for the value next
 * to its name.
 */
export function buildIdentifierDetectors(kind: Identifier): readonly Detector[] {
  return kind.standalone === undefined
    ? [buildNamedDetector(kind, `${kind.id}`)]
    : [
        buildStandaloneDetector(kind, kind.standalone),
        buildNamedDetector(kind, `${kind.id}_beside_its_name`),
      ];
}

function buildStandaloneDetector(kind: Identifier, form: StandaloneForm): Detector {
  const { anchors, value = kind.value } = form;
  const check = addNumberCheck(kind.id, form.check ?? kind.check);
  const validate = getValidate(check);
  const pattern = memoizeValue(() => {
    const isBare = digits().plain_lengths.some((length) => length > 0);
    const [before, after] = isBare ? [OTHER_NUMBER, QUANTITY] : ['', ''];
    return new RegExp(`${before}(?:${value})(?![\\w\\u00c0-\\u024f]|[.,/-]\\d|-[\\da-f]{4})${after}`, 'i');
  });
  const digits = memoizeValue(() => buildDigitProfile({ source: value }));
  return {
    ...buildSharedFields(kind),
    id: kind.id,
    strength: 'proof',
    description: kind.description,
    anchors,
    get pattern() {
      return pattern();
    },
    get digit_profile() {
      return digits();
    },
    validate: (written) => !isConstant(written) && validate(written),
    validate_work: kind.check_work ?? CHECK_WORK,
    ...(check?.length === 1 && {
      validateDigits: (digits: string) => !isConstant(digits) && check(digits, digits),
    }),
    examples: {
      hits: [`row «${kind.valid[0]}» of it`, `("«${kind.valid[0]}»")`],
      misses: [...kind.invalid, `X${kind.valid[0]}`, `${kind.valid[0]}77`],
    },
  };
}

function buildNamedDetector(kind: Identifier, id: string): Detector {
  const check = addNumberCheck(kind.id, kind.check);
  const validate = getValidate(check);
  const pattern = memoizeValue(() =>
    kind.is_exact_case === true
      ? buildExactNamedPattern(kind.names, kind.value)
      : buildNamedPattern(kind.names, kind.value),
  );
  const member = memoizeValue(() => {
    const isWhole = buildWholeMatcher(kind.value, kind.is_exact_case === true ? '' : 'i');
    return { key: buildKeyPattern(kind.names), validate: (text: string) => isWhole(text) && validate(text) };
  });
  return {
    ...buildSharedFields(kind),
    id,
    strength: check === undefined ? 'cue' : 'shape',
    description: `${kind.description.slice(0, -1)}; next to its name.`,
    get anchors() {
      return buildNameAnchors(kind.names);
    },
    get pattern() {
      return pattern();
    },
    try_work: kind.try_work ?? TRY_WORK,
    validate,
    validate_work: kind.check_work ?? CHECK_WORK,
    get member() {
      return member();
    },
    get examples() {
      return buildNamedExamples(kind);
    },
  };
}

function buildNamedExamples(kind: Identifier): Detector['examples'] {
  const name = spellName(kind.names[0]);
  return {
    hits: kind.valid.flatMap((value) => [
      `${name}: «${value}».`,
      `My ${name}${kind.is_exact_case === true ? '' : ' number'} is «${value}» now`,
    ]),
    misses: [...kind.invalid.map((value) => `${name}: ${value}`), `order ${kind.valid[0]}`],
  };
}

function buildSharedFields({
  id,
  detector,
  severity = 'high',
}: Identifier): Pick<Detector, 'detector' | 'tags' | 'severity'> {
  const country = id.slice(0, id.indexOf('.'));
  const family = detector === 'credit_card' ? 'card' : detector;
  const kind = WORLDWIDE.has(country) ? family : `${family}.${country}`;
  const realm = FAMILY_TAGS[detector];
  const tags: [Tag, ...Tag[]] = [`personal.pii.${kind}`];
  if (realm !== null) tags.push(`personal.${realm}.${kind}`);
  return { detector, tags, severity };
}

/** Adds the check digits of the kind of number to a check. A check of one argument needs no separators. */
function addNumberCheck(id: string, check: IdentifierCheck | undefined): IdentifierCheck | undefined {
  const hasDigits = getNumberCheck(id);
  if (hasDigits === null) return check;
  if (check === undefined) return hasDigits;
  return check.length === 1
    ? (code) => check(code, code) && hasDigits(code)
    : (code, written) => check(code, written) && hasDigits(code);
}

/** A date and a time of day in 12 or 14 digits. */
const TIMESTAMP =
  /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?$/;

/** Returns whether a number is a constant of programs: round, of two digits, a power of two, or a time. */
function isConstant(digits: string): boolean {
  if (!/^\d+$/.test(digits)) return false;
  const number = Number(digits);
  const isPower = [-1, 0, 1].some((more) => Number.isInteger(Math.log2(number + more)));
  return isPower || /0{5}$/.test(digits) || new Set(digits).size < 3 || TIMESTAMP.test(digits);
}

function getValidate(check: IdentifierCheck | undefined): (value: string) => boolean {
  if (check === undefined) return () => true;
  return (value) => check(normalizeCode(value), value);
}
