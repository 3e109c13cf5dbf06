// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import type { Static } from 'typebox';
import type { RecordedActions } from '../../core/decision/shown-action.ts';
import { type CompileInput, compilePolicy } from '../../core/policy/compile/index.ts';
import { parseNamedDetection } from '../../core/policy/compile/named-detection.ts';
import { readShape } from '../../core/policy/compile/shape-problems.ts';
import { conditionCompiler } from '../../core/policy/conditions/cel.ts';
import type { AllowedFingerprint, DocumentProblem, Json, Policy } from '../../core/types/index.ts';
import { PolicyLoadError } from '../errors.ts';
import { localSettingsSchema } from './settings-schema.ts';

/** A policy document of kind policy, tool contract, agent identity or memory, as plain JSON. */
export interface PolicyDocument {
  /** The name in messages. */
  readonly file: string;
  readonly value: unknown;
}

/** The source of a policy: the content of `service.yaml` and its documents, as plain JSON. */
export interface PolicySource {
  /** The content of `service.yaml`. Sections that are about the service alone are ignored. */
  readonly config?: unknown;
  readonly documents?: readonly PolicyDocument[];
  /** The name of the configuration in messages. Default `service.yaml`. */
  readonly file?: string;
}

/** Settings of `service.yaml` that a local guard uses, with their defaults. */
export interface LocalSettings extends Static<typeof localSettingsSchema> {
  /** The default of `policy.undeclared_tools`, which is that of the mode of the service. */
  readonly undeclared_tools: 'allow' | 'block';
  /** `audit.log_actions`; its other values are those of the service. */
  readonly log_actions: RecordedActions;
}

/**
 * Checks the configuration and fills in its defaults, as the service does.
 *
 * @throws PolicyLoadError with all problems
 */
export function parseLocalSettings({ config, file = 'service.yaml' }: PolicySource): LocalSettings {
  const given = config ?? {};
  const used = pickKnown(given);
  const filled = fillDefaults(used, localSettingsSchema) ?? null;
  const { value, problems } = readShape(filled, localSettingsSchema, { file, path: '' });
  if (value === null) throw new PolicyLoadError(problems.map(formatProblem));
  const settings: LocalSettings = {
    ...value,
    undeclared_tools: isGateway(given) ? 'block' : 'allow',
    log_actions: readLogActions(given),
  };
  const refused = [...findLocalRefusals(settings, used), ...findClassifiers(given)];
  if (refused.length > 0) throw new PolicyLoadError(refused.map((message) => `${file}: ${message}`));
  return settings;
}

function isGateway(given: unknown): boolean {
  const server = isRecord(given) ? given.server : undefined;
  return isRecord(server) && server.mode === 'gateway';
}

function readLogActions(given: unknown): RecordedActions {
  const audit = isRecord(given) ? given.audit : undefined;
  const written = isRecord(audit) ? audit.log_actions : undefined;
  return written === 'all' || written === 'none' ? written : 'blocked';
}

/** Drops the sections of the service alone, which it checks itself, and empty keys, which count as absent. */
function pickKnown(given: unknown): Json {
  if (!isRecord(given)) return given as Json;
  const skipped: readonly string[] = localSettingsSchema['x-ignored'];
  const kept = Object.entries(given).filter(([key, value]) => !skipped.includes(key) && value !== null);
  const sections = kept.map(([key, value]) => [key, isRecord(value) ? dropEmpty(value) : value]);
  return Object.fromEntries(sections) as Json;
}

function dropEmpty(section: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(section).filter(([, value]) => value !== null));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns why a local guard cannot decide by this configuration as a service would. */
function findLocalRefusals({ plugins, detection }: LocalSettings, used: Json): readonly string[] {
  const refused: string[] = [];
  if (plugins.files.length + plugins.packages.length > 0)
    refused.push('`plugins` names plug-ins, which only a service loads. Use `createClientGuard`.');
  if (detection.allowlist.length > 0 && detection.fingerprint_key === undefined)
    refused.push(
      '`detection.allowlist` needs its key in `detection.fingerprint_key`. Set it, or use `createClientGuard`.',
    );
  const { detection: own, ...rest } = used as Readonly<Record<string, Json>>;
  const { patterns: _, ...checked } = (own ?? {}) as Readonly<Record<string, Json>>;
  if (JSON.stringify([rest, checked]).includes('${'))
    refused.push('`${...}` is resolved by a service only. Write the value, or use `createClientGuard`.');
  return refused;
}

/** Returns why a local guard cannot decide if classifiers are configured: it would be milder than the service. */
function findClassifiers(given: unknown): readonly string[] {
  const classifiers = isRecord(given) ? (given.classifiers ?? []) : [];
  if (Array.isArray(classifiers) && classifiers.length === 0) return [];
  return ['`classifiers` names classifiers, which only a service calls. Use `createClientGuard`.'];
}

/** Compiles a policy. Throws `PolicyLoadError` with all problems if it has errors. */
export function compilePolicySource(source: PolicySource = {}): {
  readonly policy: Policy;
  readonly settings: LocalSettings;
} {
  const { documents = [], file = 'service.yaml' } = source;
  const settings = parseLocalSettings(source);
  const { policy, problems } = compilePolicy({
    inline_rules: [
      { file, path: 'policies', tenant_id: null, rules: settings.policies },
      ...Object.entries(settings.tenants).map(([tenantId, { policies }]) => ({
        file,
        path: `tenants.${tenantId}.policies`,
        tenant_id: tenantId,
        rules: policies,
      })),
    ],
    documents: documents.map((each) => ({ file: each.file, value: each.value })),
    settings: buildPolicySettings(settings, file),
    parseNamed: parseNamedDetection,
    conditions: conditionCompiler,
  });
  if (policy === null)
    throw new PolicyLoadError(problems.filter(({ level }) => level === 'error').map(formatProblem));
  return { policy, settings };
}

function buildPolicySettings(settings: LocalSettings, file: string): CompileInput['settings'] {
  const { policy, scan, detection, redaction } = settings;
  const { text_bytes_max, depth_max, nodes_max, findings_max } = scan;
  return {
    file,
    default_action: policy.default_action,
    builtin_rules: policy.builtin_rules,
    undeclared_tools: policy.undeclared_tools ?? settings.undeclared_tools,
    unknown_agents: policy.unknown_agents ?? null,
    secret_detection: settings.secret_detection,
    pii_protection: settings.pii_protection,
    injection_detection: settings.injection_detection,
    command_detection: settings.command_detection,
    detection: { ...detection, allowlist: detection.allowlist.map(readAllowed) },
    limits: { text_bytes_max, depth_max, nodes_max, findings_max },
    redaction: { typed: redaction.typed },
  };
}

type AllowlistEntry = LocalSettings['detection']['allowlist'][number];

function readAllowed({ fingerprint, reason, owner, expires_at }: AllowlistEntry): AllowedFingerprint {
  return { fingerprint, reason, owner, expires_ms: Date.parse(expires_at) };
}

interface DefaultSchema {
  readonly type?: unknown;
  readonly default?: Json;
  readonly properties?: Readonly<Record<string, DefaultSchema>>;
  readonly additionalProperties?: boolean | DefaultSchema;
  readonly items?: DefaultSchema;
}

/** Returns a copy of a value with the defaults of its schema. */
function fillDefaults(value: Json | undefined, schema: DefaultSchema): Json | undefined {
  const given =
    value === undefined || (value === null && schema.default !== undefined) ? schema.default : value;
  if (Array.isArray(given))
    return schema.items === undefined
      ? given
      : given.map((item: Json) => fillDefaults(item, schema.items as DefaultSchema) as Json);
  if (typeof given !== 'object' || given === null) return given;
  const { properties = {}, additionalProperties } = schema;
  const filled: Record<string, Json> = { ...(given as Readonly<Record<string, Json>>) };
  for (const [key, own] of Object.entries(properties)) {
    const member = fillDefaults(filled[key], own);
    if (member !== undefined) filled[key] = member;
  }
  if (typeof additionalProperties === 'object')
    for (const key of Object.keys(filled))
      if (!Object.hasOwn(properties, key))
        filled[key] = fillDefaults(filled[key], additionalProperties) as Json;
  return filled;
}

function formatProblem({ file, message }: DocumentProblem): string {
  return `${file}: ${message}`;
}
