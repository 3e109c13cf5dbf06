// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { CHECK_NAMES, EXAMPLE_VALUES, SEVERITIES } from '../../core/types/index.ts';

/** A user's own text, in which `${NAME}` and URLs are literal. */
const verbatim = Type.String({ minLength: 1, 'x-verbatim': true });

const examples = Type.Array({ ...verbatim, maxLength: 2_000 }, { maxItems: 20 });

const patterns = Type.Array(
  buildSection({
    id: Type.String({
      pattern: '^[a-z][a-z0-9_]{0,63}(?:\\.[a-z][a-z0-9_]{0,63}){1,3}$',
      'x-expects':
        'must be a name of two to four parts with dots between, of lower-case letters, digits and `_`: `acme.employee_number`',
      description: 'The exact name, `acme.employee_number`: the `rule_id` of what it finds.',
    }),
    pattern: {
      ...verbatim,
      maxLength: 2_000,
      description:
        'The pattern, in RE2 syntax. A group `(?P<value>...)` narrows the finding. A match has at most 1,024 UTF-16 units.',
    },
    anchor: Type.Optional({
      ...verbatim,
      minLength: 3,
      maxLength: 64,
      description:
        'Characters that every match contains within its first 256 units. By default they are derived from the pattern.',
    }),
    detector: Type.Optional(
      Type.String({
        pattern: '^[a-z][a-z0-9_]{0,63}$',
        'x-expects': 'must be of lower-case letters, digits and `_`',
        description: 'The family that violations name. Default: the last part of the id.',
      }),
    ),
    tags: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      minItems: 1,
      maxItems: 8,
      description:
        'Tags of what it finds. Those under `secret`, `personal`, `injection`, `dangerous` and `content` have built-in rules; for all others write a rule, or `policy.default_action` holds.',
    }),
    severity: buildEnum(SEVERITIES, { description: 'Severity of the finding.' }),
    description: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Description of what the pattern finds, and why.',
    }),
    checks: Type.Optional(
      Type.Array(buildEnum(CHECK_NAMES), {
        minItems: 1,
        maxItems: CHECK_NAMES.length,
        description:
          'Further checks that each value must pass: check digits (`luhn`, `verhoeff`, `mod11_10` over its digits, `mod11_2` with an `X` at the end, `mod97` over letters and digits, as in an IBAN), `not_repeated` (not one character alone), `not_placeholder`.',
      }),
    ),
    entropy_min: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 8,
        description: 'Minimum entropy of each value in bits per character.',
      }),
    ),
    examples: buildSection(
      {
        hits: {
          ...examples,
          minItems: 1,
          description:
            'The pattern must find something in each. If a text has « and », it must find exactly the part between them.',
        },
        misses: { ...examples, default: [], description: 'The pattern must find nothing in any of them.' },
      },
      { description: 'Texts that test the pattern whenever the configuration is read.' },
    ),
  }),
  {
    description: 'Detectors of your own. Their rules are those of their tags, as for every other.',
    maxItems: 500,
    default: [],
  },
);

const allowlist = Type.Array(
  buildSection({
    fingerprint: Type.String({
      pattern: '^hmac-sha256:[0-9a-f]{64}$',
      'x-expects': 'must be `hmac-sha256:` and 64 hex digits, as `customshouse fingerprint add` prints it',
      description: 'Keyed hash of the detector and the value.',
    }),
    reason: Type.String({ minLength: 1, maxLength: 500, description: 'Why it is harmless.' }),
    owner: Type.String({ minLength: 1, maxLength: 200, description: 'The owner of the entry.' }),
    expires_at: Type.String({
      pattern: '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2}))?$',
      'x-expects': 'must be a date, `2027-01-31`, or a time with a zone, `2027-01-31T18:00:00Z`',
      description: 'From then on it allows nothing; a date alone is its first moment in UTC.',
    }),
  }),
  {
    description: 'Allowlisted values, by their fingerprints; `customshouse fingerprint add` prints an entry.',
    maxItems: 10_000,
    default: [],
  },
);

/** `detection`: the detectors, custom detectors and allowlisted values. */
export const detectionSchema = buildSection(
  {
    detectors: Type.Record(
      Type.String(),
      buildSection({
        enabled: Type.Optional(
          Type.Boolean({
            description:
              'Enables the detector. A family that is off, as with `secret_detection.enabled: false`, stays off.',
          }),
        ),
        severity: Type.Optional(
          buildEnum(SEVERITIES, { description: 'Replaces the severity of the detector.' }),
        ),
        entropy_min: Type.Optional(
          Type.Number({
            minimum: 0,
            maximum: 8,
            description:
              'Minimum entropy of a secret in bits per character, in addition to the detector’s own checks.',
          }),
        ),
      }),
      {
        description:
          'Settings of detectors by id (`github.token`), by family (`api_key`) or by a tag (`secret.credential`), which covers those below it. The most specific name applies.',
        propertyNames: { pattern: '^[a-z][a-z0-9_.-]{0,127}$' },
        maxProperties: 2_000,
        default: {},
      },
    ),
    patterns,
    allowlist,
    example_values: buildEnum(EXAMPLE_VALUES, {
      default: 'flag',
      description:
        'Treatment of secrets from documentation, as `AKIA...EXAMPLE`, and of default passwords of local services: `flag` finds them with `example: true` and severity `low`, and no rule does more than flag them; `real` treats them as all other secrets; `ignore` finds none.',
    }),
    fingerprint_key: Type.Optional(
      Type.String({
        minLength: 32,
        maxLength: 1_024,
        'x-credential': true,
        description:
          'Key of the fingerprints, 32 characters or more. Default: the file `fingerprint-key` in the state folder. A change needs a restart.',
      }),
    ),
  },
  { description: 'Settings of single detectors, your own detectors, and allowlisted values.', default: {} },
);

/** `secret_detection`: the detection of credentials. */
export const secretDetectionSchema = buildSection(
  {
    enabled: Type.Boolean({ default: true, description: 'Enables the search for credentials.' }),
  },
  { description: 'Search for credentials.', default: {} },
);

/** The detection of prompt injections. */
export const injectionDetectionSchema = buildSection(
  {
    enabled: Type.Boolean({ default: true, description: 'Enables the search for prompt injections.' }),
    flag_threshold: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 4,
      description:
        'Threshold for the sum of the weights of phrases that are close to each other. A lower value finds more, with more false positives.',
    }),
    block_threshold: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 8,
      description:
        'Sum from which the severity is `high`, which the built-in rules block in tool results; 6 more make it `critical`.',
    }),
  },
  { description: 'Search for prompt injections.', default: {} },
);

/** The detection of dangerous commands. */
export const commandDetectionSchema = buildSection(
  {
    enabled: Type.Boolean({ default: true, description: 'Enables the search for dangerous commands.' }),
    wrappers: Type.Array(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}$',
        'x-expects': 'must be the name of a program without a folder: letters, digits and `_.+-`, at most 64',
      }),
      {
        description:
          'Names of programs of your own that run the rest of their line, as `sudo` does. The command behind them is judged too.',
        default: [],
        maxItems: 100,
      },
    ),
  },
  { description: 'Search for dangerous commands.', default: {} },
);
