import type { Severity, Tag } from '../../types/index.ts';
import { codeOf } from './code.ts';
import type { Detector } from './detector.ts';
import { lazily } from './lazily.ts';
import { anchorsOf, exactPatternOf, isWhole, keyOf, patternOf, spelled } from './named-value.ts';
import { patternDigits } from './pattern-digits.ts';

interface Alone {
  readonly anchors: readonly string[];
  readonly value?: string;
  readonly check?: Check;
}

/** Gets the value in upper case without separators, and, where it asks for it, as it was written. */
type Check = (code: string, written: string) => boolean;

/** A kind of number that people or their accounts are known by, as a record. */
export interface Identifier {
  /** Country and name, `br.cpf`. The detector of the value next to its name is `br.cpf_beside_its_name`. */
  readonly id: string;
  readonly detector: keyof typeof REALMS;
  readonly severity?: Severity;
  /** One sentence: what it is and how it is checked. */
  readonly description: string;
  /** The source of a pattern without groups that capture; tight at both ends, read without regard to case. */
  readonly value: string;
  readonly check?: Check;
  /** Maximum cost of an attempt next to the name, if the value has many forms; see `Detector`. */
  readonly try_work?: number;
  /** Cost of the check per unit of a value, if it is more than sums; see `Detector`. */
  readonly check_work?: number;
  /** True if small and capital letters differ in the value. */
  readonly is_exact_case?: boolean;
  /** In the anchors' notation. The first names it in its examples, so it is plain. */
  readonly names: readonly [string, ...string[]];
  /** For a value that proves itself: the anchors to search it without a name, and a stricter form of it. */
  readonly alone?: Alone;
  /** Valid values, of which the first may be found alone if any may, and invalid ones. */
  readonly right: readonly [string, ...string[]];
  readonly wrong: readonly [string, ...string[]];
}

/** The families, and under which tags besides `personal.pii` they are. */
const REALMS = {
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

/** Behind a name, a value is looked for between each two of a dozen words and signs. */
const TRY_WORK = 48;
/** A check weighs and adds up digits. */
const CHECK_WORK = 3;

/** The part of an id in the place of a country. */
const WORLDWIDE = new Set(['any', 'card', 'crypto', 'phone']);

/** The detectors of a kind of number: of the value alone, if that is enough, and of the value next to its name. */
export function identifier(kind: Identifier): readonly Detector[] {
  return kind.alone === undefined
    ? [besideName(kind, `${kind.id}`)]
    : [alone(kind, kind.alone), besideName(kind, `${kind.id}_beside_its_name`)];
}

function alone(kind: Identifier, { anchors, value = kind.value, check = kind.check }: Alone): Detector {
  const pattern = lazily(
    () => new RegExp(`(?:${value})(?![\\w\\u00c0-\\u024f]|[.,/-]\\d|-[\\da-f]{4})`, 'i'),
  );
  const digits = lazily(() => patternDigits({ source: value }));
  return {
    ...shared(kind),
    id: kind.id,
    strength: 'proof',
    description: kind.description,
    anchors,
    get pattern() {
      return pattern();
    },
    get digits() {
      return digits();
    },
    validate: validateOf(check),
    validate_work: kind.check_work ?? CHECK_WORK,
    ...(check?.length === 1 && { validateDigits: (digits: string) => check(digits, digits) }),
    examples: {
      hits: [`row «${kind.right[0]}» of it`, `("«${kind.right[0]}»")`],
      misses: [...kind.wrong, `X${kind.right[0]}`, `${kind.right[0]}77`],
    },
  };
}

function besideName(kind: Identifier, id: string): Detector {
  const validate = validateOf(kind.check);
  const pattern = lazily(() =>
    kind.is_exact_case === true ? exactPatternOf(kind.names, kind.value) : patternOf(kind.names, kind.value),
  );
  const member = lazily(() => {
    const is_whole = isWhole(kind.value, kind.is_exact_case === true ? '' : 'i');
    return { key: keyOf(kind.names), validate: (text: string) => is_whole(text) && validate(text) };
  });
  return {
    ...shared(kind),
    id,
    strength: kind.check === undefined ? 'cue' : 'shape',
    description: `${kind.description.slice(0, -1)}; next to its name.`,
    get anchors() {
      return anchorsOf(kind.names);
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
  const name = spelled(kind.names[0]);
  return {
    hits: kind.right.flatMap((value) => [
      `${name}: «${value}».`,
      `My ${name}${kind.is_exact_case === true ? '' : ' number'} is «${value}» now`,
    ]),
    misses: [...kind.wrong.map((value) => `${name}: ${value}`), `order ${kind.right[0]}`],
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
  const realm = REALMS[detector];
  const tags: [Tag, ...Tag[]] = [`personal.pii.${kind}`];
  if (realm !== null) tags.push(`personal.${realm}.${kind}`);
  return { detector, tags, severity };
}

function validateOf(check: Check | undefined): (value: string) => boolean {
  if (check === undefined) return () => true;
  return (value) => check(codeOf(value), value);
}
