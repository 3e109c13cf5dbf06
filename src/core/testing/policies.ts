import { DEFAULT_INJECTION_THRESHOLDS } from '../detect/matching/phrases.ts';
import { type DetectionSettings, parseDetection } from '../policy/compile/detection.ts';
import { compilePolicy, type PolicySettings } from '../policy/compile/index.ts';
import { parseNamedDetection } from '../policy/compile/named-detection.ts';
import { conditionCompiler } from '../policy/conditions/cel.ts';
import type { Crossing, Detection, Policy } from '../types/index.ts';

/** Default detection settings, as in the configuration. */
export const DETECTION_SETTINGS: DetectionSettings = {
  secret_detection: { enabled: true },
  pii_protection: { enabled: true },
  injection_detection: { enabled: true, ...DEFAULT_INJECTION_THRESHOLDS },
  command_detection: { enabled: true },
  detection: { detectors: {}, patterns: [], allowlist: [], example_values: 'flag' },
};

/** The compiled form of `DETECTION_SETTINGS`: all built-in detectors and nothing else. */
export const DETECTION: Detection = parseDetection(DETECTION_SETTINGS, 'service.yaml', []);

/** Policy settings that the tests of the core share. */
export const POLICY_SETTINGS: PolicySettings = {
  default_action: 'block',
  builtin_rules: true,
  undeclared_tools: 'allow',
  unknown_agents: null,
  file: 'service.yaml',
  ...DETECTION_SETTINGS,
  pii_protection: { enabled: true, action: 'redact' },
  limits: { text_bytes_max: 8_388_608, depth_max: 64, nodes_max: 1_000_000, findings_max: 10_000 },
  redaction: { typed: false },
};

export interface PolicyParts {
  readonly rules?: readonly unknown[];
  readonly tenants?: Readonly<Record<string, readonly unknown[]>>;
  readonly documents?: readonly unknown[];
  readonly settings?: Partial<PolicySettings>;
}

/** Compiles rules and documents as they are in a configuration. */
export function compileParts({ rules = [], tenants = {}, documents = [], settings = {} }: PolicyParts) {
  return compilePolicy({
    inline_rules: [
      { file: 'service.yaml', path: 'policies', tenant_id: null, rules },
      ...Object.entries(tenants).map(([tenantId, own]) => ({
        file: 'service.yaml',
        path: `tenants.${tenantId}.policies`,
        tenant_id: tenantId,
        rules: own,
      })),
    ],
    parseNamed: parseNamedDetection,
    conditions: conditionCompiler,
    documents: documents.map((value, at) => ({ file: `document-${at}.yaml`, value })),
    settings: { ...POLICY_SETTINGS, ...settings },
  });
}

/** Compiles a policy. Throws if it has errors. */
export function buildTestPolicy(parts: PolicyParts = {}): Policy {
  const { policy, problems } = compileParts(parts);
  if (policy === null) throw new Error(problems.map(({ message }) => message).join('\n'));
  return policy;
}

/** Builds a crossing of a text at `input`, with the given members replaced. */
export function buildTestCrossing(parts: Partial<Crossing> = {}): Crossing {
  return {
    boundary: 'input',
    phase: null,
    content: { kind: 'text', text: 'Hello' },
    tenant_id: 'default',
    agent_id: 'unknown',
    session_id: null,
    source_agent_id: null,
    destination_agent_id: null,
    tool: null,
    declared_tags: [],
    now_ms: 0,
    ...parts,
  };
}
