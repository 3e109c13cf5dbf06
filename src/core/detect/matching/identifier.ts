import type { Severity, Tag } from '../../types/index.ts';
import type { Detector } from './detector.ts';
import { buildDigitProfile } from './digit-profile.ts';
import { lazyValue } from './lazy-value.ts';
import {
  anchorNames,
  buildExactNamedPattern,
  buildKeyPattern,
  buildNamedPattern,
  buildWholeMatcher,
  spellName,
} from './named-value.ts';
import { normalizeCode } from './normalize-code.ts';

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
    ? [besideName(kind, `${kind.id}`)]
    : [alone(kind, kind.standalone), besideName(kind, `${kind.id}_beside_its_name`)];
}

function alone(
  kind: Identifier,
  { anchors, value = kind.value, check = kind.check }: StandaloneForm,
): Detector {
  const pattern = lazyValue(
    () => new RegExp(`(?:${value})(?![\\w\\u00c0-\\u024f]|[.,/-]\\d|-[\\da-f]{4})`, 'i'),
  );
  const digits = lazyValue(() => buildDigitProfile({ source: value }));
  return {
    ...shared(kind),
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
    validate: getValidate(check),
    validate_work: kind.check_work ?? CHECK_WORK,
    ...(check?.length === 1 && { validateDigits: (digits: string) => check(digits, digits) }),
    examples: {
      hits: [`row «${kind.valid[0]}» of it`, `("«${kind.valid[0]}»")`],
      misses: [...kind.invalid, `X${kind.valid[0]}`, `${kind.valid[0]}77`],
    },
  };
}

function besideName(kind: Identifier, id: string): Detector {
  const validate = getValidate(kind.check);
  const pattern = lazyValue(() =>
    kind.is_exact_case === true
      ? buildExactNamedPattern(kind.names, kind.value)
      : buildNamedPattern(kind.names, kind.value),
  );
  const member = lazyValue(() => {
    const is_whole = buildWholeMatcher(kind.value, kind.is_exact_case === true ? '' : 'i');
    return { key: buildKeyPattern(kind.names), validate: (text: string) => is_whole(text) && validate(text) };
  });
  return {
    ...shared(kind),
    id,
    strength: kind.check === undefined ? 'cue' : 'shape',
    description: `${kind.description.slice(0, -1)}; next to its name.`,
    get anchors() {
      return anchorNames(kind.names);
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
      return examplesBesideName(kind);
    },
  };
}

function examplesBesideName(kind: Identifier): Detector['examples'] {
  const name = spellName(kind.names[0]);
  return {
    hits: kind.valid.flatMap((value) => [
      `${name}: «${value}».`,
      `My ${name}${kind.is_exact_case === true ? '' : ' number'} is «${value}» now`,
    ]),
    misses: [...kind.invalid.map((value) => `${name}: ${value}`), `order ${kind.valid[0]}`],
  };
}

function shared({
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

function getValidate(check: IdentifierCheck | undefined): (value: string) => boolean {
  if (check === undefined) return () => true;
  return (value) => check(normalizeCode(value), value);
}
