import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { BOUNDARIES, PHASES, SEVERITIES } from '../../core/types/index.ts';
import { environmentNameSchema, urlSchema } from '../../platform/schema-parts.ts';

const labels = Type.Record(
  Type.String(),
  buildSection({
    score_min: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.5,
      description: 'Lowest score of a finding. One with a lower score is dropped.',
    }),
    tag: Type.String({
      pattern: '^[a-z][a-z0-9_-]*(?:\\.[a-z0-9_-]+)*$',
      maxLength: 128,
      'x-expects': 'must be a tag of lower-case letters, digits, `_` and `-`, with dots: `content.toxic`',
      description:
        'Tag of the finding, which rules match. Tags under `secret`, `personal`, `injection`, `dangerous` and `content` have built-in rules; for all others write a rule, or `policy.default_action` holds.',
    }),
    severity: buildEnum(SEVERITIES, { description: 'Severity of the finding.' }),
  }),
  {
    description:
      'The labels that count, by the name that the classifier answers: letters, digits and `_ . : / -`. All others are dropped.',
    propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}$' },
    maxProperties: 100,
  },
);

/** `classifiers`: scorers of the operator, which add findings to those of the detectors. */
export const classifiersSchema = Type.Array(
  buildSection({
    name: Type.String({
      pattern: '^[a-z][a-z0-9_-]{0,31}$',
      'x-expects': 'must be a name of at most 32 lower-case letters, digits, `_` and `-`',
      description: 'Name in findings, `classifier.NAME.LABEL`, in events and in metrics.',
    }),
    url: {
      ...urlSchema,
      description:
        'Address of the classifier. The text of each content goes there, unredacted, and nowhere else. Redirects are not followed.',
    },
    api_key_env: Type.Optional({
      ...environmentNameSchema,
      description: 'Name of the environment variable that holds the key, sent as a bearer token.',
    }),
    boundaries: Type.Array(buildEnum(BOUNDARIES), {
      minItems: 1,
      maxItems: BOUNDARIES.length,
      description: 'Boundaries at which it is called.',
    }),
    phases: Type.Array(buildEnum(PHASES), {
      minItems: 1,
      maxItems: PHASES.length,
      default: PHASES,
      description: 'Phases of `action` in which it is called: `response` is the result of a tool.',
    }),
    timeout_ms: Type.Integer({
      minimum: 10,
      maximum: 30_000,
      default: 500,
      description: 'Time limit of a call in milliseconds, which each check waits at most.',
    }),
    text_bytes_max: Type.Integer({
      minimum: 1,
      maximum: 8_388_608,
      default: 262_144,
      description: 'UTF-8 bytes of the longest text that is sent. A longer one counts as a failure.',
    }),
    labels,
    on_failure: buildEnum(['ignore', 'block'], {
      default: 'ignore',
      description:
        'Effect of a failure, such as a late or invalid answer: `ignore` leaves the decision to the rules alone, `block` blocks.',
    }),
  }),
  {
    description:
      'Your own classifiers, called over HTTP ([guide](../how-to/add-a-classifier.md)). They add findings and never make a decision milder. None by default. A change needs a restart.',
    maxItems: 10,
    default: [],
  },
);
