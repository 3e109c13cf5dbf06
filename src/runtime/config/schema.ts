// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.

import type { Static } from 'typebox';
import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { ACTIONS } from '../../core/types/index.ts';
import { durationSchema, patternListSchema } from '../../platform/schema-parts.ts';
import { authSchema } from './schema-auth.ts';
import { classifiersSchema } from './schema-classifiers.ts';
import { clusterSchema } from './schema-cluster.ts';
import {
  commandDetectionSchema,
  detectionSchema,
  injectionDetectionSchema,
  secretDetectionSchema,
} from './schema-detection.ts';
import { flowSchema } from './schema-flow.ts';
import { logSchema } from './schema-log.ts';
import { mcpSchema } from './schema-mcp.ts';
import { objectStorageSchema } from './schema-object-storage.ts';
import { dashboardSchema, secretsSchema } from './schema-outside.ts';
import { pluginsSectionSchema } from './schema-plugins.ts';
import { proxySchema } from './schema-proxy.ts';
import { telemetrySchema } from './schema-telemetry.ts';

const rules = Type.Array(Type.Unsafe<unknown>({ $ref: '#/$defs/rule' }), { maxItems: 10_000, default: [] });

const server = buildSection(
  {
    host: Type.String({
      minLength: 1,
      maxLength: 253,
      pattern: '^[A-Za-z0-9._:%-]+$',
      default: '127.0.0.1',
      'x-expects': 'must be an IP address or the name of a host, without a port or brackets',
      description: 'Address to listen on. On any but a loopback address every caller needs a credential.',
    }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 8000,
      description: 'Port; 0 takes a free one.',
    }),
    mode: buildEnum(['sidecar', 'gateway'], {
      default: 'sidecar',
      description:
        '`sidecar`: one agent on this host. `gateway`: many agents; each call names its source and destination.',
    }),
    workers: Type.Integer({ minimum: 1, maximum: 256, default: 1, description: 'Processes that answer.' }),
    cors_origins: Type.Array(
      Type.String({
        pattern: '^(\\*|https?://[^\\s/]+)$',
        maxLength: 512,
        'x-expects': 'must be `*` or an origin, `https://host` or `https://host:port`, without a path',
      }),
      {
        maxItems: 1000,
        default: [],
        description: 'Origins of web pages that may call with a credential, `*` for any. None by default.',
      },
    ),
    public_url: Type.Nullable(
      Type.String({
        pattern: '^https?://[^\\s/?#@]+$',
        maxLength: 512,
        'x-expects': 'must be an origin, `https://safety.example.com`, without a path',
        description:
          'The address of the console in browsers, where a proxy in front ends TLS. Without it, people sign in on this machine only.',
      }),
      { default: null },
    ),
    body_bytes_max: Type.Integer({
      minimum: 1024,
      maximum: 1_073_741_824,
      default: 10_485_760,
      description: 'Largest HTTP body in bytes; a larger one is refused with 413.',
    }),
  },
  {
    description: 'Address and port of the service, and its processes. A change needs a restart.',
    default: {},
  },
);

const policy = buildSection(
  {
    default_action: buildEnum(ACTIONS, {
      default: 'block',
      description: 'The action for tags that no rule names.',
    }),
    builtin_rules: Type.Boolean({ default: true, description: 'Adds the built-in rules after your own.' }),
    undeclared_tools: Type.Optional(
      buildEnum(['allow', 'block'], {
        description: 'Tools without a contract. Default: `allow` in sidecar mode, `block` in gateway mode.',
      }),
    ),
    unknown_agents: Type.Optional(
      buildEnum(['allow', 'block'], {
        description:
          'Agents without an identity document. Default: `block` as soon as there is one such document, else `allow`.',
      }),
    ),
  },
  { description: 'Behaviour when none of your own rules matches.', default: {} },
);

const paths = buildSection(
  {
    policy_files: { ...patternListSchema, default: ['policies/*.yaml'], description: 'Policy documents.' },
    contract_files: {
      ...patternListSchema,
      default: ['contracts/*.yaml'],
      description: 'Tool contract documents.',
    },
    identity_files: {
      ...patternListSchema,
      default: [],
      description: 'Agent identity documents, for instance `agents/*.yaml`.',
    },
    memory_schema_files: {
      ...patternListSchema,
      default: ['schemas/*.yaml'],
      description: 'Memory schema documents.',
    },
  },
  {
    description: 'Files of v1alpha1 documents: names or patterns (`*`, `**`), relative to this file.',
    default: {},
  },
);

const scan = buildSection(
  {
    text_bytes_max: Type.Integer({
      minimum: 1,
      maximum: 1_073_741_824,
      default: 8_388_608,
      description: 'UTF-8 bytes of all text in one check.',
    }),
    depth_max: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 64,
      description: 'Levels of nesting in a structured payload.',
    }),
    nodes_max: Type.Integer({
      minimum: 1,
      maximum: 100_000_000,
      default: 200_000,
      description:
        'Keys and values of a payload. A body with more than twice as many, and more than 10,000, is refused with 413.',
    }),
    findings_max: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 10_000,
      description: 'Findings in one check.',
    }),
    file_roots: {
      ...patternListSchema,
      default: [],
      description:
        'Folders whose files may be scanned by path, those of the state folder excepted. Without one, no path is accepted.',
    },
  },
  {
    description: 'Limits of one check. Content over a limit is blocked with `coverage_exceeded`.',
    default: {},
  },
);

const audit = buildSection(
  {
    enabled: Type.Boolean({ default: true, description: 'Records decisions.' }),
    index: buildEnum(['sqlite', 'postgres', 'off'], {
      default: 'sqlite',
      description:
        'The index that answers queries of the audit log, filled from the journal: `sqlite` is a file in the state folder, `postgres` is in the database of `storage.url` and shared by all its services, `off` is none. A change needs a restart.',
    }),
    log_actions: buildEnum(['blocked', 'all', 'none'], {
      default: 'blocked',
      description:
        'Records tool calls as people see them: name and arguments with secrets, personal data and injections masked, up to 2 KB of each. `blocked`: only those that are blocked or wait for an approval.',
    }),
    export_actions: Type.Boolean({
      default: false,
      description:
        'Adds the recorded calls to what leaves the audit log: `customshouse audit export`, event streams and telemetry. Evidence packs, metrics and prompts of advisors never contain them.',
    }),
    log_inputs: Type.Boolean({
      default: false,
      description: 'Records the redacted text of inputs too, up to 8,192 characters of each.',
    }),
    log_outputs: Type.Boolean({
      default: false,
      description: 'Records the redacted text of outputs too, up to 8,192 characters of each.',
    }),
    log_argument_shapes: {
      ...patternListSchema,
      default: [],
      description:
        'Tools (`*` matches any run of characters) whose calls are recorded with the names, types and ranges of their arguments, from which `observe contract` drafts. No value is recorded.',
    },
    max_size_mb: Type.Integer({
      minimum: 1,
      maximum: 1_048_576,
      default: 100,
      description: 'Size of a journal file, in megabytes, before a new one begins.',
    }),
    max_age_days: Type.Integer({
      minimum: 1,
      maximum: 36_500,
      default: 90,
      description: 'Days for which closed journal files are kept.',
    }),
    compress_rotated: Type.Boolean({
      default: true,
      description: 'Compresses closed journal files with gzip.',
    }),
    object_storage: objectStorageSchema,
  },
  { description: 'The journal of every decision.', default: {} },
);

/**
 * `service.yaml` without the sections of features, which `buildConfigSchema` adds. Type, validation, defaults, editor
 * schema and reference page derive from it.
 */
export const spineSchema = buildSection(
  {
    version: Type.Literal('v1alpha1', {
      type: 'string',
      default: 'v1alpha1',
      description: 'Version of this format.',
    }),
    server,
    policy,
    policies: { ...rules, description: 'Rules, in the order of evaluation.' },
    paths,
    tenants: Type.Record(
      Type.String(),
      buildSection({
        policies: { ...rules, description: 'Rules of this tenant.' },
      }),
      {
        description: 'Rules of single tenants, evaluated before the global ones.',
        propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$' },
        maxProperties: 10_000,
        default: {},
      },
    ),
    secret_detection: secretDetectionSchema,
    pii_protection: buildSection(
      {
        enabled: Type.Boolean({ default: true, description: 'Enables the search for personal data.' }),
        action: buildEnum(ACTIONS, {
          default: 'redact',
          description: 'Action of the built-in rules for personal data in input and output.',
        }),
      },
      { description: 'Search for personal data.', default: {} },
    ),
    injection_detection: injectionDetectionSchema,
    command_detection: commandDetectionSchema,
    detection: detectionSchema,
    classifiers: classifiersSchema,
    plugins: pluginsSectionSchema,
    scan,
    redaction: buildSection(
      {
        typed: Type.Boolean({
          default: false,
          description: '`true` writes `[REDACTED:ssn]` instead of `[REDACTED]`.',
        }),
        mode: buildEnum(['mask', 'tokenize'], {
          default: 'mask',
          description:
            'With `tokenize`, a model receives a token such as `[EMAIL_1]` instead of a redacted value, and the LLM proxy restores the value in the answer; see [LLM proxy](llm-proxy.md).',
        }),
      },
      { description: 'Text that replaces a redacted value.', default: {} },
    ),
    auth: authSchema,
    metrics: buildSection(
      {
        enabled: Type.Boolean({ default: true, description: 'Counts and serves metrics.' }),
        endpoint: Type.String({
          pattern: '^/[A-Za-z0-9_./-]{1,255}$',
          default: '/v1/metrics',
          'x-expects': 'must be a path that begins with `/`, of letters, digits, `_`, `.`, `-` and `/`',
          description: 'Path of the metrics.',
        }),
        public: Type.Boolean({ default: false, description: '`true`: scrapers need no credential.' }),
      },
      { description: 'Metrics for scrapers.', default: {} },
    ),
    audit,
    state_dir: Type.String({
      minLength: 1,
      maxLength: 4096,
      default: '.service',
      description:
        'Folder of journal, keys and store, relative to this file. If its group or everyone may write in it, as on a shared volume, the state is in its sub-folder `service` (mode 0700). A change needs a restart.',
    }),
    sessions: buildSection(
      {
        idle_timeout: {
          ...durationSchema,
          default: '12h',
          description: 'The taint tags of a session are cleared after this time without a request.',
        },
        age_max: {
          ...durationSchema,
          default: '7d',
          description:
            'The taint tags of a session are cleared this long after the first one, also when it is in use.',
        },
      },
      {
        description: 'Lifetime of the taint tags of sessions ([guide](../how-to/restrict-data-flows.md)).',
        default: {},
      },
    ),
    flow: flowSchema,
    storage: buildSection(
      {
        url: Type.Optional(
          Type.String({
            pattern: '^(sqlite:.+|postgres(ql)?://[^\\s]+)$',
            maxLength: 4096,
            'x-expects': 'must begin with `sqlite:`, `postgres://` or `postgresql://`',
            description:
              '`sqlite:FILE`, relative to this file, or `postgres://USER:${NAME}@HOST:PORT/DATABASE`, the password from the environment. Without it: `store.db` in the state folder. A change needs a restart.',
          }),
        ),
      },
      {
        description: 'The store of approvals, sessions and budgets ([guide](../how-to/operate-storage.md)).',
        default: {},
      },
    ),
    cluster: clusterSchema,
    secrets: secretsSchema,
    proxy: proxySchema,
    mcp: mcpSchema,
    dashboard: dashboardSchema,
    telemetry: telemetrySchema,
    log: logSchema,
  },
  {
    description:
      'Configuration of the service. `${NAME}` takes a value from the environment; `x-*` keys are free.',
  },
);

/** The origin of the configuration. Relative paths in it start at `base_dir`. */
export interface ConfigOrigin {
  /** Absolute; `null` without a configuration file. */
  readonly file: string | null;
  /** The name in messages: as the operator wrote it, or `service.yaml`. */
  readonly label: string;
  /** The absolute path of the file's folder, or of the current one. */
  readonly base_dir: string;
}

/** The settings of features, by section. Each feature declares its own next to their schema (`declare module`). */
// biome-ignore lint/suspicious/noEmptyInterface: features add the members, and a type alias cannot be merged.
export interface FeatureSections {}

/** The configuration as written in its file, validated and filled with defaults. */
export type WrittenConfig = Static<typeof spineSchema> & FeatureSections;

/** The complete configuration. Its paths of files and folders are absolute. */
export type Config = Omit<WrittenConfig, 'policy'> & {
  readonly policy: Omit<WrittenConfig['policy'], 'undeclared_tools'> & {
    readonly undeclared_tools: 'allow' | 'block';
  };
  readonly origin: ConfigOrigin;
};
