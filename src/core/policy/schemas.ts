import {
  ACTIONS,
  AGENT_TIERS,
  BOUNDARIES,
  COMPOSITE_TYPES,
  FLOW_ACTIONS,
  PHASES,
  SEVERITIES,
} from '../types/index.ts';

/**
 * The shapes of v1alpha1 documents and inline rules, as plain JSON Schema (2020-12). The compiler validates with
 * them, the types are derived from them, and editors use them too.
 */

const name = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_. :/-]*$',
  'x-expects':
    'must be a name: letters, digits, spaces and `_ . : / -`, at most 128, a letter or digit first',
} as const;

const text = { type: 'string', maxLength: 2_000 } as const;

const tag = {
  type: 'string',
  maxLength: 128,
  pattern: '^[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*$',
  'x-expects': 'must be a tag: a dotted name such as `personal.pii`, letters first',
} as const;

const tags = {
  type: 'array',
  maxItems: 1_000,
  items: tag,
} as const;

/** A tag as users write it: `personal.*` is the same as `personal`. */
const sessionTag = {
  type: 'string',
  maxLength: 130,
  pattern: '^[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*(\\.\\*)?$',
  'x-expects': 'must be a tag: a dotted name such as `untrusted.web`, letters first',
} as const;

const sessionTags = { type: 'array', minItems: 1, maxItems: 100, items: sessionTag } as const;

const outsideName = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
} as const;

const detectorId = {
  type: 'string',
  maxLength: 128,
  pattern: '^[a-z0-9*][a-z0-9_.*-]*$',
  'x-expects':
    'must be the rule ID of a detector, such as `git.push_force`; `*` matches any run of characters',
} as const;

const outsideNames = { type: 'array', minItems: 1, maxItems: 1_000, items: outsideName } as const;

const duration = {
  type: 'string',
  pattern: '^[0-9]{1,9}[smhdw]$',
  'x-expects': 'must be a duration: a whole number and one of `s`, `m`, `h`, `d`, `w`, such as `30d`',
} as const;

const fields = {
  type: 'array',
  maxItems: 1_000,
  items: {
    type: 'string',
    minLength: 1,
    maxLength: 256,
    pattern: '^[^.]+(\\.[^.]+)*$',
    'x-expects': 'must be the name of a field, or several joined by dots, such as `user.name`',
  },
} as const;

const enforcement = {
  enum: ['enforce', 'monitor'],
  default: 'enforce',
  description: '`monitor`: its effect is only recorded in the audit log.',
} as const;

const enabled = { type: 'boolean', default: true, description: '`false`: the entry has no effect.' } as const;

const tenantId = {
  type: ['string', 'null'],
  minLength: 1,
  maxLength: 256,
  description: 'Tenant of the entry (default: all tenants).',
} as const;

const X_KEYS = { '^x-': true } as const;

/** Returns the schema of a mapping that accepts only the named keys and `x-*`. */
function buildClosedSchema<const P extends object, const R extends readonly string[]>(
  properties: P,
  required: R,
) {
  return {
    type: 'object',
    properties,
    required,
    patternProperties: X_KEYS,
    additionalProperties: false,
  } as const;
}

function buildOneOrListSchema<const S extends object>(single: S, expects: string, description: string) {
  return {
    anyOf: [single, { type: 'array', minItems: 1, maxItems: 1_000, items: single }],
    'x-expects': expects,
    description,
  } as const;
}

const condition = buildClosedSchema(
  {
    data_tags: { ...tags, minItems: 1, description: 'The same as `data_tags` of the rule.' },
    tool: { ...outsideName, description: 'A tool’s name; `*` matches any run of characters.' },
    tools: { ...outsideNames, description: 'Names of tools; `*` matches any run of characters.' },
    agent: { ...outsideName, description: 'An agent’s name; `*` matches any run of characters.' },
    agents: { ...outsideNames, description: 'Names of agents; `*` matches any run of characters.' },
    users: {
      ...outsideNames,
      description:
        'Proved people; `*` matches any run of characters. With `groups`: these people, or anyone in the groups. A rule that restricts blocks a call without a proved person.',
    },
    groups: { ...outsideNames, description: 'Groups of the proved person; `*` as above.' },
    agent_tiers: {
      type: 'array',
      minItems: 1,
      maxItems: 4,
      items: { enum: AGENT_TIERS },
      description: 'Tiers of the agent. A tier that is only stated satisfies no rule that allows.',
    },
    phase: buildOneOrListSchema(
      { enum: PHASES },
      'must be `request`, `response` or `message`, or a list of them',
      'Phases of `action` in which the rule is evaluated (default: calls and messages, no results).',
    ),
    severity_min: {
      enum: SEVERITIES,
      description: 'The rule matches findings of this severity and above, and tags that are only declared.',
    },
    rule_id: { ...detectorId, description: 'The rule ID of a detector; `*` matches any run of characters.' },
    rule_ids: {
      type: 'array',
      minItems: 1,
      maxItems: 1_000,
      items: detectorId,
      description: 'The rule matches findings of these detectors alone: `git.push_force`, `filesystem.*`.',
    },
    session_tags: {
      ...sessionTags,
      description: 'Taint tags that the session must have: all of these, each itself or a descendant of it.',
    },
    when: {
      type: 'string',
      minLength: 1,
      maxLength: 2_000,
      description: 'A condition in CEL over facts of the crossing; see docs/reference/policies.md.',
    },
  },
  [],
);

/** One rule, inline or in a policy document. */
export const ruleSchema = buildClosedSchema(
  {
    name: { ...name, description: 'Name of the rule in answers and in the audit log; unique per tenant.' },
    description: text,
    boundary: buildOneOrListSchema(
      { enum: BOUNDARIES },
      'must be `input`, `output` or `action`, or a list of them',
      'The boundary.',
    ),
    data_tags: {
      ...tags,
      minItems: 1,
      description:
        'Tags that the rule matches, with their descendants. A rule without tags matches the call or message itself.',
    },
    action: {
      enum: ACTIONS,
      description:
        'The action. Over all tags the strictest action wins. A rule with `session` may omit it; then it decides nothing.',
    },
    session: buildClosedSchema(
      {
        add: { ...sessionTags, description: 'Taint tags that are added to the session.' },
        remove: {
          ...sessionTags,
          description: 'Taint tags that are removed from the session, with their descendants.',
        },
        reset: { type: 'boolean', description: '`true`: removes all taint tags of the session.' },
      },
      [],
    ),
    tenant_id: tenantId,
    condition: { ...condition, description: 'Further conditions.' },
    priority: {
      type: 'integer',
      minimum: 0,
      maximum: 1_000_000,
      default: 100,
      description: 'Lower values are evaluated first; equal values in the order of definition.',
    },
    reason: { type: 'string', maxLength: 500, description: 'The sentence that the answer shows.' },
    severity: { enum: SEVERITIES, description: 'Severity in violations, instead of that of the finding.' },
    fallback_template: {
      type: 'string',
      minLength: 1,
      maxLength: 10_000,
      description:
        'Replaces an output that is blocked or redacted. Placeholders: {reason} {rule} {action} {agent_id} {data_tags} {detections} {redacted}.',
    },
    enforcement,
    enabled,
    approval: buildClosedSchema(
      {
        ttl: { ...duration, default: '1h', description: 'Time in which an approval can be given and used.' },
        min_approvals: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 1,
          description: 'Number of approvers that must approve.',
        },
        require_second_factor: {
          type: 'boolean',
          default: false,
          description:
            'Requires approvers to have verified a second factor within `approvals.second_factor_ttl`. Only users who signed in can then approve.',
        },
      },
      [],
    ),
  },
  ['name', 'boundary'],
);

const label = {
  type: 'string',
  maxLength: 128,
  pattern: '^[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*(\\.\\*)?$',
  'x-expects':
    'must be a label: `user`, `user_source`, `operator`, `own`, `trusted.<name>` or `untrusted.<name>`',
} as const;

const otherwise = {
  enum: FLOW_ACTIONS,
  default: 'block',
  description: 'Action for a value that no label in `any_of` permits.',
} as const;

const argumentFlow = buildClosedSchema(
  {
    any_of: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: label,
      description:
        'Labels that permit a value, each with its descendants. Also `any` (no check), `unknown` (seen nowhere) and `trivial` (numbers below 100, booleans, members of an enumeration, `null`, empty values).',
    },
    none_of: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: label,
      description: 'Labels that refuse a value, with their descendants, even if another label permits it.',
    },
    otherwise,
    optional: { type: 'boolean', default: false, description: '`true` if a call may leave it out.' },
    type: {
      enum: COMPOSITE_TYPES,
      description:
        'Checks a value part by part if it has no label as a whole: a `url`, a list of `addresses`, a `text` whose addresses count, a shell `command` whose hosts and paths count.',
    },
  },
  ['any_of'],
);

const serverName = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$',
  'x-expects': 'must be the name of an MCP server, such as `github`',
} as const;

/** The tool contract of one tool: its arguments, its results and its effects. */
export const contractSchema = buildClosedSchema(
  {
    tool_name: outsideName,
    servers: {
      type: 'array',
      minItems: 1,
      maxItems: 20,
      items: serverName,
      description:
        'MCP servers of the tool. The contract is then for `mcp__<server>__<tool>` and `<server>__<tool>`, and not for the name alone.',
    },
    fallback: {
      type: 'boolean',
      default: false,
      description:
        '`true`: applies only if no other contract names the tool. If undeclared tools are blocked, it declares nothing.',
    },
    description: text,
    arguments: {
      type: ['object', 'boolean'],
      description: 'JSON Schema (2020-12) of the arguments. References only inside it, and none to itself.',
    },
    allowed_agents: {
      ...outsideNames,
      description: 'Agents that may call it (default: any); `*` matches any run of characters.',
    },
    max_calls_per_minute: {
      type: 'integer',
      minimum: 1,
      maximum: 6_000,
      description: 'Calls of one agent in any sixty seconds, over all workers.',
    },
    max_calls_per_minute_per_user: {
      type: 'integer',
      minimum: 1,
      maximum: 6_000,
      description:
        'Calls for one proved person in any sixty seconds, over all agents and workers. Calls without a proved person are blocked.',
    },
    required_scopes: {
      ...outsideNames,
      description:
        'Scopes that the proved person must have, all of them. Calls without a proved person are blocked.',
    },
    accepts: buildClosedSchema(
      {
        tags: { ...tags, description: 'Tags that arguments may carry (default: any; an empty list: none).' },
        fields: {
          ...fields,
          description: 'Arguments that are kept; all others are removed (default: all are kept).',
        },
      },
      [],
    ),
    emits: buildClosedSchema(
      {
        tags: {
          ...tags,
          description:
            'Tags that the result may carry; a call adds them to the taint tags of the session. By default any; an empty list allows none. Facts such as `untrusted.web` state the origin and restrict nothing, and so do tags `private.*` without others.',
        },
        fields: { ...fields, description: 'Fields of the result that are kept (default: all).' },
        on_violation: {
          enum: ['block', 'redact'],
          default: 'block',
          description:
            'Action for a result with data that `tags` or the clearance of an agent does not cover: `block` it, or `redact` that data and keep the rest. A declared tag has no location in the result, so it always blocks.',
        },
        origin: {
          ...label,
          description:
            'Label of all values in the result (default: `untrusted.<tool>`), such as `trusted.bank`.',
        },
        labels: {
          type: 'object',
          maxProperties: 1_000,
          additionalProperties: {
            anyOf: [label, buildClosedSchema({ own: { const: 'generated' } }, ['own'])],
            'x-expects': 'must be a label such as `untrusted.mail`, or `{own: generated}`',
          },
          description:
            'Labels of single fields by path: `items[].body`, `*.price`, `@keys`, `@lines`. The most specific path counts.',
        },
      },
      [],
    ),
    writes: {
      ...label,
      description:
        'Trusted label of the store that the tool writes, such as `trusted.contacts`. Writing a value that is untrusted or unknown ends this trust for the session.',
    },
    flow: buildClosedSchema(
      {
        arguments: {
          type: 'object',
          maxProperties: 1_000,
          additionalProperties: argumentFlow,
          description:
            'Origins of argument values, by argument. An argument that is left out is refused unless `optional`.',
        },
        others: {
          ...argumentFlow,
          description: 'Terms for all other arguments (default: `any_of: [user, trivial]`).',
        },
        intent: {
          type: 'array',
          minItems: 1,
          maxItems: 100,
          items: {
            type: 'string',
            minLength: 1,
            maxLength: 64,
            pattern: '^[^\\s]+$',
            'x-expects': 'must be one word',
          },
          description: 'Words of which the person’s prompt must have one; the case does not matter.',
        },
        otherwise: {
          ...otherwise,
          description: 'Action for values that no label permits, unless an argument sets another.',
        },
      },
      [],
    ),
    stores: buildClosedSchema({ fields, retention: duration }, []),
    side_effects: buildClosedSchema(
      {
        reversible: { type: 'boolean', description: '`true` if the call can be undone.' },
        requires_approval: { type: 'boolean', description: 'Requires approval of each call.' },
        egress: {
          type: 'boolean',
          default: false,
          description: '`true` if a call sends data out: the call gets the tag `egress.tool`.',
        },
        description: text,
      },
      ['reversible', 'requires_approval'],
    ),
    tenant_id: tenantId,
    enforcement,
    enabled,
  },
  ['tool_name'],
);

/** The identity of one agent. */
export const identitySchema = buildClosedSchema(
  {
    agent_id: outsideName,
    description: text,
    tools: {
      ...outsideNames,
      description: 'Tools that it may call (default: any); `*` matches any run of characters.',
    },
    users: {
      ...outsideNames,
      description:
        'Proved people for whom it may act (default: anyone and no one); `*` matches any run of characters. With `groups`: these people, or anyone in the groups.',
    },
    groups: { ...outsideNames, description: 'Groups of proved people for whom it may act; `*` as above.' },
    clearance_tags: {
      ...tags,
      minItems: 1,
      description: 'Tags that it may see, with their descendants (default: any).',
    },
    require_task: {
      type: 'boolean',
      default: false,
      description: '`true`: each call must name a task (`context.task_id`).',
    },
    tenant_id: tenantId,
    enforcement,
    enabled,
  },
  ['agent_id'],
);

const valueBytesMax = { type: 'integer', minimum: 1, maximum: 8_388_608 } as const;

/** The schema of one kind of memory. */
export const memorySchema = buildClosedSchema(
  {
    name,
    description: text,
    scope: {
      enum: ['session', 'user', 'global'],
      description: 'The owner of values: one session of an agent, one user of an agent, or the agent.',
    },
    fields: {
      type: 'array',
      minItems: 1,
      maxItems: 1_000,
      items: buildClosedSchema(
        {
          name: { ...outsideName, description: 'The `key` of writes and reads.' },
          description: text,
          type: { enum: ['string', 'integer', 'number', 'boolean', 'list', 'object'] },
          tag: { ...tag, description: 'Tag of the data. Rules for the tag decide on it.' },
          retention: {
            ...duration,
            description: 'Time for which a value is kept (default: `default_retention`).',
          },
          value_bytes_max: {
            ...valueBytesMax,
            description: 'UTF-8 bytes of one value as JSON (default: that of the document).',
          },
          encrypted: {
            type: 'boolean',
            default: false,
            description:
              'Returns a handle instead of the value on reads. Stored values are encrypted in any case.',
          },
          required: {
            type: 'boolean',
            default: false,
            description:
              '`true`: a read lists the key under `missing` if it has no value, and one entry is reserved for it.',
          },
        },
        ['name', 'type', 'tag'],
      ),
    },
    max_entries: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      default: 100,
      description: 'Values of one session, user or agent, depending on `scope`.',
    },
    value_bytes_max: {
      ...valueBytesMax,
      default: 65_536,
      description: 'UTF-8 bytes of one value as JSON.',
    },
    default_retention: { ...duration, default: '24h', description: 'Time for which a value is kept.' },
    tenant_id: tenantId,
    enabled,
  },
  ['name', 'scope', 'fields'],
);

/** The kinds of documents: the key for one record, the key for a list, and the schema of a record. */
export const DOCUMENT_KINDS = [
  { kind: 'policy', one: 'policy', many: 'policies', record: ruleSchema },
  { kind: 'tool-contract', one: 'contract', many: 'contracts', record: contractSchema },
  { kind: 'agent-identity', one: 'agent', many: 'agents', record: identitySchema },
  { kind: 'memory', one: 'memory', many: 'memories', record: memorySchema },
] as const;

export type DocumentKind = (typeof DOCUMENT_KINDS)[number]['kind'];

/** The version of all documents. */
export const DOCUMENT_VERSION = 'v1alpha1';

/**
 * Returns the JSON Schema of one kind of document, for editors: a `version`, and one record or a list of them.
 */
export function buildDocumentSchema(kind: DocumentKind) {
  const { one, many, record } = DOCUMENT_KINDS.find((each) => each.kind === kind)!;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `${kind} document, ${DOCUMENT_VERSION}`,
    type: 'object',
    properties: {
      version: { const: DOCUMENT_VERSION },
      apiVersion: { const: DOCUMENT_VERSION },
      ...('enforcement' in record.properties && {
        enforcement: {
          ...enforcement,
          description: 'Applies to all records of this document that do not set it.',
        },
      }),
      [one]: record,
      [many]: { type: 'array', minItems: 1, items: record },
    },
    oneOf: [{ required: [one] }, { required: [many] }],
    patternProperties: X_KEYS,
    additionalProperties: false,
  } as const;
}
