// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { API_FAMILY_NAMES } from '../../core/wire/families/index.ts';
import { urlSchema } from '../../platform/schema-parts.ts';

const credential = Type.String({ minLength: 1, maxLength: 4096, 'x-credential': true });

const providerName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
  'x-expects': 'must be a name of letters, digits, `_`, `.` and `-`',
});

/** The name of a model, as a client or a provider uses it. */
const modelName = Type.String({
  pattern: '^[^\\s*?#%\\x00-\\x1f\\x7f]{1,256}$',
  'x-expects': 'must be the name of a model, without blanks, `*`, `?`, `#` and `%`',
});

const modelPattern = Type.String({
  pattern: '^[^\\s?#%\\x00-\\x1f\\x7f]{1,256}$',
  'x-expects': 'must be the name of a model, with `*` for any run of characters',
});

const weight = Type.Integer({ minimum: 1, maximum: 1_000, default: 1 });

const priority = Type.Integer({ minimum: 0, maximum: 1_000, default: 0 });

const provider = buildSection({
  name: {
    ...providerName,
    description:
      'Name of the provider in events, metrics and other settings. `NAME/MODEL` requests a model there.',
  },
  family: buildEnum(API_FAMILY_NAMES, {
    description: 'API of the provider. `openai` covers every compatible server, also a local one.',
  }),
  base_url: Type.Optional({
    ...urlSchema,
    description:
      'Base URL; a private address is allowed (default: the public URL of the family). If it ends in a version, as `/v1`, this replaces the version in the paths of clients.',
  }),
  api_key: Type.Optional({
    ...credential,
    description:
      'Key, as `${NAME}` or `${secret:name}`. It replaces the credential of the client; without it, that one passes through.',
  }),
  keys: Type.Optional(
    Type.Array(
      buildSection({
        api_key: { ...credential, description: 'Key, as `${NAME}` or `${secret:name}`.' },
        weight: { ...weight, description: 'Share of the calls, relative to the weights of the others.' },
      }),
      {
        minItems: 1,
        maxItems: 100,
        description:
          'Several keys instead of `api_key`. A key that is refused for its rate limit is skipped for a while.',
      },
    ),
  ),
  auth_header: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$",
      'x-expects': 'must be the name of a header',
      description:
        'Header in which the key goes, bare. By default the one of the family: `Authorization: Bearer`, `x-api-key` or `x-goog-api-key`.',
    }),
  ),
  client_key: buildEnum(['pass', 'drop'], {
    default: 'pass',
    description:
      'Without a key: `pass` forwards the credential of the client, `drop` removes it, for a server that must not see the key of another.',
  }),
  headers: Type.Record(
    Type.String(),
    Type.String({ pattern: '^[\\x20-\\x7e]{0,4096}$', 'x-expects': 'must be of printable ASCII characters' }),
    {
      description: 'Headers to add to those of the client, or to replace them. No credentials.',
      propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$' },
      maxProperties: 50,
      default: {},
    },
  ),
  models: Type.Array(modelPattern, {
    minItems: 1,
    maxItems: 1_000,
    default: ['*'],
    description: 'Models of this provider: names, or patterns with `*`.',
  }),
  weight: {
    ...weight,
    description: 'Share of the calls relative to the other providers, with `strategy: weighted`.',
  },
  priority: { ...priority, description: 'Lower ones are tried first, whatever the strategy is.' },
  price: Type.Optional(
    buildSection(
      {
        input: Type.Number({
          minimum: 0,
          maximum: 1_000_000,
          description: 'US dollars for a million tokens that go in.',
        }),
        output: Type.Number({
          minimum: 0,
          maximum: 1_000_000,
          description: 'US dollars for a million tokens that come out.',
        }),
      },
      { description: 'Price that `strategy: cost` uses if the price table has none.' },
    ),
  ),
});

const models = Type.Record(
  Type.String(),
  Type.Array(
    buildSection({
      provider: { ...providerName, description: 'Name of a provider.' },
      model: { ...modelName, description: 'The model to request there.' },
      weight: {
        ...weight,
        description: 'Share of the calls relative to the other providers, with `strategy: weighted`.',
      },
      priority: { ...priority, description: 'Lower ones are tried first, whatever the strategy is.' },
    }),
    { minItems: 1, maxItems: 32 },
  ),
  {
    description:
      'Aliases: a name that clients request, and the models of providers that serve it. See [model providers](model-providers.md).',
    propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,127}$' },
    maxProperties: 1_000,
    default: {},
  },
);

const fallbacks = Type.Array(
  buildSection({
    model: {
      ...modelPattern,
      description: 'The model that the client requests: a name, or a pattern with `*`.',
    },
    to: Type.Array(modelName, {
      minItems: 1,
      maxItems: 16,
      description: 'Models, aliases, or `PROVIDER/MODEL`, in the order in which they are tried.',
    }),
  }),
  {
    maxItems: 100,
    default: [],
    description: 'Models to use when all providers of a model have failed. The first matching entry applies.',
  },
);

const timeouts = buildSection(
  {
    connect_ms: Type.Integer({
      minimum: 50,
      maximum: 600_000,
      default: 5_000,
      description: 'Time limit for connecting, TLS included, in milliseconds.',
    }),
    first_byte_ms: Type.Optional(
      Type.Integer({
        minimum: 50,
        maximum: 3_600_000,
        description:
          'Time limit for the first byte of an answer, in milliseconds; then another provider is tried (default: `timeout_seconds` alone).',
      }),
    ),
    idle_ms: Type.Integer({
      minimum: 50,
      maximum: 3_600_000,
      default: 120_000,
      description: 'Longest pause within an answer, in milliseconds.',
    }),
  },
  {
    description: 'Time-outs of one attempt, in addition to `timeout_seconds` for all attempts.',
    default: {},
  },
);

const circuitBreaker = buildSection(
  {
    failures: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 5,
      description:
        'Failures within `window_seconds` that open it. Attempts of one call at one provider count once.',
    }),
    failure_ratio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.5,
      description: 'Share of all calls within `window_seconds` that must have failed too.',
    }),
    window_seconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 30,
      description: 'Seconds of the window in which failures are counted.',
    }),
    open_seconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 30,
      description: 'Seconds without calls after it opens; then one call tests the provider.',
    }),
  },
  {
    description:
      'Circuit breaker of a provider. Failures are: no connection, a time-out, an incomplete answer, a status of 500 or more.',
    default: {},
  },
);

const retry = buildSection(
  {
    max_attempts: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 20,
        description:
          'Attempts in total. Each provider that serves the model is tried once in any case. By default 3; 1 if only one provider can serve the call, because clients retry too.',
      }),
    ),
    backoff_factor: Type.Number({
      minimum: 0,
      maximum: 60,
      default: 0.5,
      description:
        'Longest wait before the second attempt in seconds, doubled before each further one. The wait is random between 0 and that.',
    }),
  },
  { description: 'Attempts after a failure, if another attempt is safe.', default: {} },
);

/** `proxy`: the model providers of the LLM proxy, and the routing of calls to them. */
export const proxySchema = buildSection(
  {
    target: Type.Optional({
      ...urlSchema,
      description:
        'Base URL of one provider, for calls that none of `providers` serves. It may be a private address.',
    }),
    timeout_seconds: Type.Integer({
      minimum: 1,
      maximum: 3600,
      default: 600,
      description:
        'Time limit of an answer in seconds, all attempts together: until a stream begins, and until any other answer is complete.',
    }),
    retry,
    timeouts,
    strategy: buildEnum(['priority', 'weighted', 'cost', 'latency'], {
      default: 'priority',
      description:
        'Which provider of equal `priority` is tried first: the first in the list, one drawn by weight, the cheapest, or the fastest.',
    }),
    providers: Type.Array(provider, { maxItems: 100, default: [], description: 'Providers.' }),
    models,
    fallbacks,
    circuit_breaker: circuitBreaker,
    response_bytes_max: Type.Integer({
      minimum: 1_024,
      maximum: 1_073_741_824,
      default: 67_108_864,
      description: 'Largest answer that is not a stream, in bytes after decoding.',
    }),
    stream_buffer_bytes_max: Type.Integer({
      minimum: 1_024,
      maximum: 67_108_864,
      default: 8_388_608,
      description:
        'Bytes of one stream that may wait until its tool calls are complete and judged, and of its longest event.',
    }),
    cache_entries_max: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 20_000,
      description:
        'Tool results without a finding that one worker caches by keyed hash for later turns of a conversation; 0 judges and records each every time.',
    }),
    connections_max: Type.Integer({
      minimum: 1,
      maximum: 65_536,
      default: 4_096,
      description: 'Connections of one worker to one provider; further calls wait for one.',
    }),
  },
  {
    description:
      'Model providers behind the LLM proxy; see [model providers](model-providers.md). Without an entry, nothing is forwarded. A change needs a restart.',
    default: {},
  },
);
