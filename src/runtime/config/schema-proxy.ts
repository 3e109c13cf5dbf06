// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { API_FAMILY_NAMES } from '../../core/wire/families/index.ts';
import { urlSchema } from '../../platform/schema-parts.ts';

const credential = { type: 'string', minLength: 1, maxLength: 4096, 'x-credential': true } as const;

const providerName = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
  'x-expects': 'must be a name of letters, digits, `_`, `.` and `-`',
} as const;

/** The name of a model, as a client or a provider uses it. */
const modelName = {
  type: 'string',
  pattern: '^[^\\s*?#%\\x00-\\x1f\\x7f]{1,256}$',
  'x-expects': 'must be the name of a model, without blanks, `*`, `?`, `#` and `%`',
} as const;

const modelPattern = {
  type: 'string',
  pattern: '^[^\\s?#%\\x00-\\x1f\\x7f]{1,256}$',
  'x-expects': 'must be the name of a model, with `*` for any run of characters',
} as const;

const weight = {
  type: 'integer',
  minimum: 1,
  maximum: 1_000,
  default: 1,
} as const;

const priority = {
  type: 'integer',
  minimum: 0,
  maximum: 1_000,
  default: 0,
} as const;

const provider = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'family'],
  properties: {
    name: {
      ...providerName,
      description:
        'Name of the provider in events, metrics and other settings. `NAME/MODEL` requests a model there.',
    },
    family: {
      type: 'string',
      enum: API_FAMILY_NAMES,
      description: 'API of the provider. `openai` covers every compatible server, also a local one.',
    },
    base_url: {
      ...urlSchema,
      description:
        'Base URL; a private address is allowed (default: the public URL of the family). If it ends in a version, as `/v1`, this replaces the version in the paths of clients.',
    },
    api_key: {
      ...credential,
      description:
        'Key, as `${NAME}` or `${secret:name}`. It replaces the credential of the client; without it, that one passes through.',
    },
    keys: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      description:
        'Several keys instead of `api_key`. A key that is refused for its rate limit is skipped for a while.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['api_key'],
        properties: {
          api_key: { ...credential, description: 'Key, as `${NAME}` or `${secret:name}`.' },
          weight: { ...weight, description: 'Share of the calls, relative to the weights of the others.' },
        },
      },
    },
    auth_header: {
      type: 'string',
      pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$",
      'x-expects': 'must be the name of a header',
      description:
        'Header in which the key goes, bare. By default the one of the family: `Authorization: Bearer`, `x-api-key` or `x-goog-api-key`.',
    },
    client_key: {
      type: 'string',
      enum: ['pass', 'drop'],
      default: 'pass',
      description:
        'Without a key: `pass` forwards the credential of the client, `drop` removes it, for a server that must not see the key of another.',
    },
    headers: {
      type: 'object',
      description: 'Headers to add to those of the client, or to replace them. No credentials.',
      propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$' },
      additionalProperties: {
        type: 'string',
        pattern: '^[\\x20-\\x7e]{0,4096}$',
        'x-expects': 'must be of printable ASCII characters',
      },
      maxProperties: 50,
      default: {},
    },
    models: {
      type: 'array',
      items: modelPattern,
      minItems: 1,
      maxItems: 1_000,
      default: ['*'],
      description: 'Models of this provider: names, or patterns with `*`.',
    },
    weight: {
      ...weight,
      description: 'Share of the calls relative to the other providers, with `strategy: weighted`.',
    },
    priority: { ...priority, description: 'Lower ones are tried first, whatever the strategy is.' },
    price: {
      type: 'object',
      description: 'Price that `strategy: cost` uses if the price table has none.',
      additionalProperties: false,
      required: ['input', 'output'],
      properties: {
        input: {
          type: 'number',
          minimum: 0,
          maximum: 1_000_000,
          description: 'US dollars for a million tokens that go in.',
        },
        output: {
          type: 'number',
          minimum: 0,
          maximum: 1_000_000,
          description: 'US dollars for a million tokens that come out.',
        },
      },
    },
  },
} as const;

const models = {
  type: 'object',
  description:
    'Aliases: a name that clients request, and the models of providers that serve it. See [model providers](model-providers.md).',
  propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,127}$' },
  maxProperties: 1_000,
  default: {},
  additionalProperties: {
    type: 'array',
    minItems: 1,
    maxItems: 32,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['provider', 'model'],
      properties: {
        provider: { ...providerName, description: 'Name of a provider.' },
        model: { ...modelName, description: 'The model to request there.' },
        weight: {
          ...weight,
          description: 'Share of the calls relative to the other providers, with `strategy: weighted`.',
        },
        priority: { ...priority, description: 'Lower ones are tried first, whatever the strategy is.' },
      },
    },
  },
} as const;

const fallbacks = {
  type: 'array',
  maxItems: 100,
  default: [],
  description: 'Models to use when all providers of a model have failed. The first matching entry applies.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['model', 'to'],
    properties: {
      model: {
        ...modelPattern,
        description: 'The model that the client requests: a name, or a pattern with `*`.',
      },
      to: {
        type: 'array',
        minItems: 1,
        maxItems: 16,
        items: modelName,
        description: 'Models, aliases, or `PROVIDER/MODEL`, in the order in which they are tried.',
      },
    },
  },
} as const;

const timeouts = {
  type: 'object',
  description: 'Time-outs of one attempt, in addition to `timeout_seconds` for all attempts.',
  additionalProperties: false,
  default: {},
  properties: {
    connect_ms: {
      type: 'integer',
      minimum: 50,
      maximum: 600_000,
      default: 5_000,
      description: 'Time limit for connecting, TLS included, in milliseconds.',
    },
    first_byte_ms: {
      type: 'integer',
      minimum: 50,
      maximum: 3_600_000,
      description:
        'Time limit for the first byte of an answer, in milliseconds; then another provider is tried (default: `timeout_seconds` alone).',
    },
    idle_ms: {
      type: 'integer',
      minimum: 50,
      maximum: 3_600_000,
      default: 120_000,
      description: 'Longest pause within an answer, in milliseconds.',
    },
  },
} as const;

const circuit_breaker = {
  type: 'object',
  description:
    'Circuit breaker of a provider. Failures are: no connection, a time-out, an incomplete answer, a status of 500 or more.',
  additionalProperties: false,
  default: {},
  properties: {
    failures: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      default: 5,
      description:
        'Failures within `window_seconds` that open it. Attempts of one call at one provider count once.',
    },
    failure_ratio: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 0.5,
      description: 'Share of all calls within `window_seconds` that must have failed too.',
    },
    window_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: 3_600,
      default: 30,
      description: 'Seconds of the window in which failures are counted.',
    },
    open_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: 3_600,
      default: 30,
      description: 'Seconds without calls after it opens; then one call tests the provider.',
    },
  },
} as const;

const retry = {
  type: 'object',
  description: 'Attempts after a failure, if another attempt is safe.',
  additionalProperties: false,
  default: {},
  properties: {
    max_attempts: {
      type: 'integer',
      minimum: 1,
      maximum: 20,
      description:
        'Attempts in total. Each provider that serves the model is tried once in any case. By default 3; 1 if only one provider can serve the call, because clients retry too.',
    },
    backoff_factor: {
      type: 'number',
      minimum: 0,
      maximum: 60,
      default: 0.5,
      description:
        'Longest wait before the second attempt in seconds, doubled before each further one. The wait is random between 0 and that.',
    },
  },
} as const;

/** `proxy`: the model providers of the LLM proxy, and the routing of calls to them. */
export const proxySchema = {
  type: 'object',
  description:
    'Model providers behind the LLM proxy; see [model providers](model-providers.md). Without an entry, nothing is forwarded. A change needs a restart.',
  additionalProperties: false,
  default: {},
  properties: {
    target: {
      ...urlSchema,
      description:
        'Base URL of one provider, for calls that none of `providers` serves. It may be a private address.',
    },
    timeout_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: 3600,
      default: 600,
      description:
        'Time limit of an answer in seconds, all attempts together: until a stream begins, and until any other answer is complete.',
    },
    retry,
    timeouts,
    strategy: {
      type: 'string',
      enum: ['priority', 'weighted', 'cost', 'latency'],
      default: 'priority',
      description:
        'Which provider of equal `priority` is tried first: the first in the list, one drawn by weight, the cheapest, or the fastest.',
    },
    providers: { type: 'array', items: provider, maxItems: 100, default: [], description: 'Providers.' },
    models,
    fallbacks,
    circuit_breaker,
    response_bytes_max: {
      type: 'integer',
      minimum: 1_024,
      maximum: 1_073_741_824,
      default: 67_108_864,
      description: 'Largest answer that is not a stream, in bytes after decoding.',
    },
    stream_buffer_bytes_max: {
      type: 'integer',
      minimum: 1_024,
      maximum: 67_108_864,
      default: 8_388_608,
      description:
        'Bytes of one stream that may wait until its tool calls are complete and judged, and of its longest event.',
    },
    cache_entries_max: {
      type: 'integer',
      minimum: 0,
      maximum: 1_000_000,
      default: 20_000,
      description:
        'Tool results without a finding that one worker caches by keyed hash for later turns of a conversation; 0 judges and records each every time.',
    },
    connections_max: {
      type: 'integer',
      minimum: 1,
      maximum: 65_536,
      default: 4_096,
      description: 'Connections of one worker to one provider; further calls wait for one.',
    },
  },
} as const;
