// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { CHECK_NAMES, EXAMPLE_VALUES, SEVERITIES } from '../../core/types/index.ts';

/** A user's own text, in which `${NAME}` and URLs are literal. */
const verbatim = { type: 'string', minLength: 1, 'x-verbatim': true } as const;

const examples = { type: 'array', items: { ...verbatim, maxLength: 2_000 }, maxItems: 20 } as const;

const patterns = {
  type: 'array',
  description: 'Detectors of your own. Their rules are those of their tags, as for every other.',
  maxItems: 500,
  default: [],
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'pattern', 'tags', 'severity', 'description', 'examples'],
    properties: {
      id: {
        type: 'string',
        pattern: '^[a-z][a-z0-9_]{0,63}(?:\\.[a-z][a-z0-9_]{0,63}){1,3}$',
        'x-expects':
          'must be a name of two to four parts with dots between, of lower-case letters, digits and `_`: `acme.employee_number`',
        description: 'The exact name, `acme.employee_number`: the `rule_id` of what it finds.',
      },
      pattern: {
        ...verbatim,
        maxLength: 2_000,
        description:
          'The pattern, in RE2 syntax. A group `(?P<value>...)` narrows the finding. A match has at most 1,024 UTF-16 units.',
      },
      anchor: {
        ...verbatim,
        minLength: 3,
        maxLength: 64,
        description:
          'Characters that every match contains within its first 256 units. By default they are derived from the pattern.',
      },
      detector: {
        type: 'string',
        pattern: '^[a-z][a-z0-9_]{0,63}$',
        'x-expects': 'must be of lower-case letters, digits and `_`',
        description: 'The family that violations name. Default: the last part of the id.',
      },
      tags: {
        type: 'array',
        items: { type: 'string', minLength: 1, maxLength: 128 },
        minItems: 1,
        maxItems: 8,
        description:
          'Tags of what it finds. Those under `secret`, `personal`, `injection`, `dangerous` and `content` have built-in rules; for all others write a rule, or `policy.default_action` holds.',
      },
      severity: { type: 'string', enum: SEVERITIES, description: 'Severity of the finding.' },
      description: {
        type: 'string',
        minLength: 1,
        maxLength: 500,
        description: 'Description of what the pattern finds, and why.',
      },
      checks: {
        type: 'array',
        items: { type: 'string', enum: CHECK_NAMES },
        minItems: 1,
        maxItems: CHECK_NAMES.length,
        description:
          'Further checks that each value must pass: check digits (`luhn`, `verhoeff`, `mod11_10` over its digits, `mod11_2` with an `X` at the end, `mod97` over letters and digits, as in an IBAN), `not_repeated` (not one character alone), `not_placeholder`.',
      },
      entropy_min: {
        type: 'number',
        minimum: 0,
        maximum: 8,
        description: 'Minimum entropy of each value in bits per character.',
      },
      examples: {
        type: 'object',
        additionalProperties: false,
        required: ['hits'],
        description: 'Texts that test the pattern whenever the configuration is read.',
        properties: {
          hits: {
            ...examples,
            minItems: 1,
            description:
              'The pattern must find something in each. If a text has « and », it must find exactly the part between them.',
          },
          misses: { ...examples, default: [], description: 'The pattern must find nothing in any of them.' },
        },
      },
    },
  },
} as const;

const allowlist = {
  type: 'array',
  description: 'Allowlisted values, by their fingerprints; `customshouse fingerprint add` prints an entry.',
  maxItems: 10_000,
  default: [],
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['fingerprint', 'reason', 'owner', 'expires_at'],
    properties: {
      fingerprint: {
        type: 'string',
        pattern: '^hmac-sha256:[0-9a-f]{64}$',
        'x-expects': 'must be `hmac-sha256:` and 64 hex digits, as `customshouse fingerprint add` prints it',
        description: 'Keyed hash of the detector and the value.',
      },
      reason: { type: 'string', minLength: 1, maxLength: 500, description: 'Why it is harmless.' },
      owner: { type: 'string', minLength: 1, maxLength: 200, description: 'The owner of the entry.' },
      expires_at: {
        type: 'string',
        pattern:
          '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}:\\d{2}))?$',
        'x-expects': 'must be a date, `2027-01-31`, or a time with a zone, `2027-01-31T18:00:00Z`',
        description: 'From then on it allows nothing; a date alone is its first moment in UTC.',
      },
    },
  },
} as const;

/** `detection`: the detectors, custom detectors and allowlisted values. */
export const detectionSchema = {
  type: 'object',
  description: 'Settings of single detectors, your own detectors, and allowlisted values.',
  additionalProperties: false,
  default: {},
  properties: {
    detectors: {
      type: 'object',
      description:
        'Settings of detectors by id (`github.token`), by family (`api_key`) or by a tag (`secret.credential`), which covers those below it. The most specific name applies.',
      propertyNames: { pattern: '^[a-z][a-z0-9_.-]{0,127}$' },
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          enabled: {
            type: 'boolean',
            description:
              'Enables the detector. A family that is off, as with `secret_detection.enabled: false`, stays off.',
          },
          severity: {
            type: 'string',
            enum: SEVERITIES,
            description: 'Replaces the severity of the detector.',
          },
          entropy_min: {
            type: 'number',
            minimum: 0,
            maximum: 8,
            description:
              'Minimum entropy of a secret in bits per character, in addition to the detector’s own checks.',
          },
        },
      },
      maxProperties: 2_000,
      default: {},
    },
    patterns,
    allowlist,
    example_values: {
      type: 'string',
      enum: EXAMPLE_VALUES,
      default: 'flag',
      description:
        'Treatment of secrets from documentation, as `AKIA...EXAMPLE`, and of default passwords of local services: `flag` finds them with `example: true` and severity `low`, and no rule does more than flag them; `real` treats them as all other secrets; `ignore` finds none.',
    },
    fingerprint_key: {
      type: 'string',
      minLength: 32,
      maxLength: 1_024,
      'x-credential': true,
      description:
        'Key of the fingerprints, 32 characters or more. Default: the file `fingerprint-key` in the state folder. A change needs a restart.',
    },
  },
} as const;

/** `secret_detection`: the detection of credentials. */
export const secretDetectionSchema = {
  type: 'object',
  description: 'Search for credentials.',
  additionalProperties: false,
  default: {},
  properties: {
    enabled: { type: 'boolean', default: true, description: 'Enables the search for credentials.' },
  },
} as const;

/** The detection of prompt injections. */
export const injectionDetectionSchema = {
  type: 'object',
  description: 'Search for prompt injections.',
  additionalProperties: false,
  default: {},
  properties: {
    enabled: { type: 'boolean', default: true, description: 'Enables the search for prompt injections.' },
    flag_threshold: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000,
      default: 4,
      description:
        'Threshold for the sum of the weights of phrases that are close to each other. A lower value finds more, with more false positives.',
    },
    block_threshold: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000,
      default: 8,
      description:
        'Sum from which the severity is `high`, which the built-in rules block in tool results; 6 more make it `critical`.',
    },
  },
} as const;

/** The detection of dangerous commands. */
export const commandDetectionSchema = {
  type: 'object',
  description: 'Search for dangerous commands.',
  additionalProperties: false,
  default: {},
  properties: {
    enabled: { type: 'boolean', default: true, description: 'Enables the search for dangerous commands.' },
    wrappers: {
      type: 'array',
      description:
        'Names of programs of your own that run the rest of their line, as `sudo` does. The command behind them is judged too.',
      default: [],
      maxItems: 100,
      items: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}$',
        'x-expects': 'must be the name of a program without a folder: letters, digits and `_.+-`, at most 64',
      },
    },
  },
} as const;
