import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { listContentMarks } from '../src/core/decision/content-marks.ts';
import { compilePolicy, judge, type PolicySettings } from '../src/core/index.ts';
import { collectLeafTexts } from '../src/core/json/walk.ts';
import { celEvaluator, conditionCompiler } from '../src/core/policy/conditions/cel.ts';
import { DETECTION_SETTINGS } from '../src/core/testing/policies.ts';
import { createSessionJudge, type SessionJudge } from '../src/core/testing/sessions.ts';
import { convertToCodePoints } from '../src/core/text/offsets.ts';
import type {
  Boundary,
  Content,
  Crossing,
  Json,
  JudgedFinding,
  Phase,
  Policy,
  Verdict,
} from '../src/core/types/index.ts';
import { filledIn } from './samples.ts';

/** One file: the configuration of a service, its documents, and its requests. */
export interface CaseGroup {
  readonly file: string;
  /** The content of `service.yaml`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** v1alpha1 documents. Each becomes a file below `policies/`. */
  readonly documents: readonly Json[];
  readonly cases: readonly Case[];
}

export interface Case {
  readonly name: string;
  readonly request: { readonly operation: CheckOperation; readonly body: Readonly<Record<string, Json>> };
  readonly expect: Expectation;
}

/**
 * The expected members of the answer. Other members may have any value, but the list of violations must be complete.
 */
export interface Expectation {
  readonly decision: Verdict['decision'];
  readonly action?: Verdict['action'];
  readonly rule?: string;
  /** The named members of each violation. The number and order of violations must match. */
  readonly violations?: readonly Readonly<Record<string, unknown>>[];
  readonly modified_text?: string;
  readonly modified_payload?: Json;
  readonly modified_input?: Json;
  readonly modified_output?: Json;
  readonly modified_message?: string;
  readonly stripped_fields?: readonly string[];
  readonly coverage?: 'full' | 'partial';
  readonly fallback_used?: boolean;
  readonly marks?: readonly string[];
  /**
   * Names of the rules in monitor mode that would have acted. They are not on the wire, so only `judge` compares them.
   */
  readonly monitored?: readonly string[];
  /** Texts that the answer must not contain, except in the `match` of a violation. */
  readonly must_not_contain?: readonly string[];
}

const OPERATIONS = {
  scan_input: { boundary: 'input', path: '/v1/scan/input' },
  scan_structured: { boundary: 'input', path: '/v1/scan/structured' },
  guard_output: { boundary: 'output', path: '/v1/guard/output' },
  intercept_tool: { boundary: 'action', path: '/v1/intercept/tool' },
  intercept_agent_message: { boundary: 'action', path: '/v1/intercept/agent-message' },
} as const satisfies Record<string, { boundary: Boundary; path: string }>;
export type CheckOperation = keyof typeof OPERATIONS;

/** Returns the HTTP path of an operation, for a POST. */
export function pathOf(operation: CheckOperation): string {
  return OPERATIONS[operation].path;
}

/**
 * Returns all groups of this folder, with samples filled in, in the order of their files. Throws if a group has the
 * wrong format.
 */
export function loadCases(): readonly CaseGroup[] {
  const folder = new URL('.', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  const groups = files.sort().map((file) => {
    const written = filledIn(JSON.parse(readFileSync(new URL(file, folder), 'utf8'))) as Partial<CaseGroup>;
    return {
      file,
      config: written.config ?? {},
      documents: written.documents ?? [],
      cases: written.cases ?? [],
    };
  });
  groups.forEach(checkShape);
  return groups;
}

const EXPECTATIONS = new Set([
  'decision',
  'action',
  'rule',
  'violations',
  'modified_text',
  'modified_payload',
  'modified_input',
  'modified_output',
  'modified_message',
  'stripped_fields',
  'coverage',
  'fallback_used',
  'marks',
  'monitored',
  'must_not_contain',
]);

function checkShape({ file, cases }: CaseGroup): void {
  assert.ok(cases.length > 0, `${file} has no cases`);
  assert.equal(new Set(cases.map(({ name }) => name)).size, cases.length, `${file} has a name twice`);
  for (const { name, request, expect } of cases) {
    assert.ok(Object.hasOwn(OPERATIONS, request.operation), `${file}: ${name}: unknown operation`);
    assert.ok(expect.decision !== undefined, `${file}: ${name}: expects no decision`);
    for (const key of Object.keys(expect))
      assert.ok(EXPECTATIONS.has(key), `${file}: ${name}: unknown \`${key}\``);
  }
}

/** Compiles the policy that a group's service would have. Throws with all problems if it does not compile. */
export function policyOf({ file, config, documents }: CaseGroup): Policy {
  const { policies = [], tenants = {} } = config as Config;
  const { policy, problems } = compilePolicy({
    inline_rules: [
      { file, path: 'policies', tenant_id: null, rules: policies },
      ...Object.entries(tenants).map(([tenantId, own]) => ({
        file,
        path: `tenants.${tenantId}.policies`,
        tenant_id: tenantId,
        rules: own.policies ?? [],
      })),
    ],
    documents: documents.map((value, at) => ({ file: `${file}: documents[${at}]`, value })),
    settings: settingsOf(config),
    conditions: conditionCompiler,
  });
  assert.ok(policy !== null, problems.map(({ message }) => message).join('\n'));
  return policy;
}

interface Config {
  readonly policies?: readonly unknown[];
  readonly tenants?: Readonly<Record<string, { readonly policies?: readonly unknown[] }>>;
  readonly policy?: Partial<
    Pick<PolicySettings, 'default_action' | 'builtin_rules' | 'undeclared_tools' | 'unknown_agents'>
  >;
  readonly secret_detection?: Partial<PolicySettings['secret_detection']>;
  readonly pii_protection?: Partial<PolicySettings['pii_protection']>;
  readonly injection_detection?: Partial<PolicySettings['injection_detection']>;
  readonly command_detection?: Partial<PolicySettings['command_detection']>;
  readonly detection?: Partial<PolicySettings['detection']>;
  readonly scan?: Partial<PolicySettings['limits']>;
  readonly redaction?: Partial<PolicySettings['redaction']>;
}

/** Returns the policy settings of the configuration, with its defaults. */
function settingsOf(config: Config): PolicySettings {
  return {
    default_action: 'block',
    builtin_rules: true,
    undeclared_tools: 'allow',
    unknown_agents: null,
    ...config.policy,
    file: 'service.yaml',
    secret_detection: { ...DETECTION_SETTINGS.secret_detection, ...config.secret_detection },
    pii_protection: { enabled: true, action: 'redact', ...config.pii_protection },
    injection_detection: { ...DETECTION_SETTINGS.injection_detection, ...config.injection_detection },
    command_detection: { ...DETECTION_SETTINGS.command_detection, ...config.command_detection },
    detection: { ...DETECTION_SETTINGS.detection, ...config.detection },
    limits: {
      text_bytes_max: 8_388_608,
      depth_max: 64,
      nodes_max: 1_000_000,
      findings_max: 10_000,
      ...config.scan,
    },
    redaction: { typed: false, ...config.redaction },
  };
}

/** Returns a judge for the cases of a group in order: the taint tags of a session persist from one case to the next. */
export function judgeOf(policy: Policy): SessionJudge {
  return createSessionJudge((crossing) => judge(crossing, policy, null, celEvaluator));
}

/** Runs a case on the judge of its group and returns the answer in the wire format. */
export function judgeCase({ request }: Case, judgeNext: SessionJudge): Readonly<Record<string, unknown>> {
  const crossing = crossingOf(request);
  const verdict = judgeNext(crossing);
  const { decision, action, rule, reason, stripped_fields, coverage, fallback_used } = verdict;
  const marks = listContentMarks(crossing, verdict);
  const hasContent = verdict.content !== null && (decision === 'modify' || fallback_used);
  return {
    decision,
    action,
    rule,
    reason,
    violations: violationsOf(verdict, crossing),
    coverage: coverage.status,
    ...(fallback_used && { fallback_used }),
    ...(stripped_fields.length > 0 && { stripped_fields }),
    ...(marks.length > 0 && { marks }),
    ...(hasContent && { [modifiedName(request)]: plain(verdict.content as Content) }),
    monitored: verdict.monitored.map((each) => each.rule),
  };
}

function crossingOf({ operation, body }: Case['request']): Crossing {
  const { boundary } = OPERATIONS[operation];
  const context = (body.context ?? {}) as Readonly<Record<string, Json>>;
  const text = (field: string) => (body[field] ?? context[field] ?? null) as string | null;
  const phase = operation === 'intercept_tool' ? ((text('phase') ?? 'request') as Phase) : 'message';
  const isMessage = operation === 'intercept_agent_message';
  return {
    boundary,
    phase: boundary === 'action' ? phase : null,
    content: contentOf(operation, phase, body),
    tenant_id: text('tenant_id') ?? 'default',
    agent_id: text('agent_id') ?? text('source_agent_id') ?? 'unknown',
    session_id: text('session_id'),
    source_agent_id: text('source_agent_id'),
    destination_agent_id: text('destination_agent_id'),
    tool: isMessage ? 'agent_to_agent' : text('tool'),
    declared_tags: (body.data_tags ?? []) as readonly string[],
    now_ms: 0,
  };
}

function contentOf(operation: CheckOperation, phase: Phase, body: Readonly<Record<string, Json>>): Content {
  if (operation === 'scan_structured') return { kind: 'json', value: body.payload as Json };
  if (operation === 'intercept_agent_message') return { kind: 'text', text: body.message as string };
  if (operation !== 'intercept_tool') return { kind: 'text', text: body.text as string };
  const value = phase === 'response' ? (body.output as Json) : (body.input ?? {});
  return typeof value === 'string' ? { kind: 'text', text: value } : { kind: 'json', value };
}

function modifiedName({ operation, body }: Case['request']): string {
  if (operation === 'scan_structured') return 'modified_payload';
  if (operation === 'intercept_agent_message') return 'modified_message';
  if (operation !== 'intercept_tool') return 'modified_text';
  return body.phase === 'response' ? 'modified_output' : 'modified_input';
}

function plain(content: Content): unknown {
  return content.kind === 'text' ? content.text : content.value;
}

function violationsOf(verdict: Verdict, crossing: Crossing): readonly unknown[] {
  const shown = verdict.findings.filter(({ action }) => action !== 'allow');
  const texts = collectLeafTexts(crossing.content, shown);
  return [
    ...shown.map((finding) => seen(finding, texts.get(finding.leaf) ?? '', crossing.boundary === 'input')),
    ...verdict.violations.map(({ type, rule, severity, path }) => ({
      type,
      rule,
      severity,
      ...(path !== null && { path }),
    })),
  ];
}

function seen(finding: JudgedFinding, text: string, matches: boolean) {
  const [start, end] = convertToCodePoints(text, [finding.start, finding.end]);
  return {
    type: finding.type,
    detector: finding.detector,
    severity: finding.severity,
    ...(matches && { match: text.slice(finding.start, finding.end) }),
    tag: finding.tags[0],
    start,
    end,
    ...(finding.path !== null && { path: finding.path }),
  };
}

/** Lists the differences between an answer and the expectation as sentences; empty if there are none. */
export function differences(
  expect: Expectation,
  reply: Readonly<Record<string, unknown>>,
): readonly string[] {
  const { violations, monitored, must_not_contain = [], ...fields } = expect;
  const found = Object.entries(fields).flatMap(([field, wanted]) => different(field, wanted, reply[field]));
  if (violations !== undefined) found.push(...violationDifferences(violations, reply.violations));
  if (monitored !== undefined && reply.monitored !== undefined) {
    found.push(...different('monitored', monitored, reply.monitored));
  }
  for (const unexpected of [
    'modified_text',
    'modified_payload',
    'modified_input',
    'modified_output',
    'modified_message',
    'marks',
  ]) {
    if (reply[unexpected] !== undefined && !Object.hasOwn(expect, unexpected))
      found.push(`${unexpected} is there`);
  }
  const told = JSON.stringify(reply, (key, value: unknown) => (key === 'match' ? undefined : value));
  const leaked = must_not_contain.filter((text) => told.includes(JSON.stringify(text).slice(1, -1)));
  return [...found, ...leaked.map(() => 'holds what it must not')];
}

function violationDifferences(
  wanted: NonNullable<Expectation['violations']>,
  given: unknown,
): readonly string[] {
  const list = given as readonly Readonly<Record<string, unknown>>[];
  if (list.length !== wanted.length)
    return [`${wanted.length} violations expected, not ${JSON.stringify(list)}`];
  return wanted.flatMap((each, at) =>
    Object.entries(each).flatMap(([field, value]) =>
      different(`violations[${at}].${field}`, value, list[at]?.[field]),
    ),
  );
}

function different(field: string, wanted: unknown, given: unknown): readonly string[] {
  try {
    assert.deepEqual(given, wanted);
    return [];
  } catch {
    return [`${field}: ${JSON.stringify(wanted)} expected, not ${JSON.stringify(given)}`];
  }
}

/** Runs all cases on `judge`. */
export function runAll(): { readonly count: number; readonly failures: readonly string[] } {
  const failures: string[] = [];
  let count = 0;
  for (const group of loadCases()) {
    const judgeNext = judgeOf(policyOf(group));
    for (const each of group.cases) {
      count += 1;
      const found = differences(each.expect, judgeCase(each, judgeNext));
      if (found.length > 0) failures.push(`${group.file}: ${each.name}: ${found.join('; ')}`);
    }
  }
  return { count, failures };
}
