import type { Static } from 'typebox';
import { judge } from '../decision/judge.ts';
import { createMemoryValues } from '../flow/memory-values.ts';
import { usesValues } from '../flow/uses-values.ts';
import { hashTextPortably } from '../policy/compile/portable-hash.ts';
import type { ConditionEvaluator } from '../policy/conditions/facts.ts';
import { covers, isCoveredBy } from '../tags.ts';
import {
  ACTIONS,
  type Content,
  type Crossing,
  type Fingerprinter,
  type Json,
  type Phase,
  type Policy,
  type Verdict,
} from '../types/index.ts';
import type { caseSchema } from './case-schema.ts';

/** One case as written in the file. */
export type PolicyTestCase = Static<typeof caseSchema>;

/** A difference between the expected and the actual verdict. Both sides are text for the author of the case. */
export interface CaseDifference {
  readonly field: string;
  readonly expected: string;
  readonly actual: string;
}

/** Inputs of `judge` in addition to the crossing and the policy. */
export interface CaseTools {
  readonly now_ms: number;
  readonly fingerprintOf: Fingerprinter | null;
  readonly conditions: ConditionEvaluator | null;
  /** Returns whether a rule belongs to another layer, which may be stricter than the case expects. */
  readonly isOfOthers?: (rule: string) => boolean;
}

/** Judges the crossing of a case and returns the differences from the expected verdict; empty if the case passes. */
export function runCase(
  written: PolicyTestCase,
  policy: Policy,
  tools: CaseTools,
): readonly CaseDifference[] {
  const crossing = { ...getCrossing(written, tools.now_ms), ...readSession(written, policy, tools) };
  const verdict = judge(crossing, policy, tools.fingerprintOf, tools.conditions);
  const found = findDifferences(written.expect, verdict, crossing.content);
  return tools.isOfOthers?.(verdict.rule) === true && isStricter(written.expect, verdict, found) ? [] : found;
}

/** Judges the steps before a case in their order; returns the values that its session has then seen. */
function readSession(
  { before = [], tenant_id = 'default', agent_id = 'unknown' }: PolicyTestCase,
  policy: Policy,
  { now_ms, fingerprintOf, conditions }: CaseTools,
): Pick<Crossing, 'values_seen'> {
  if (!usesValues(policy, tenant_id)) return {};
  const values = createMemoryValues((form, text) => hashTextPortably(`${form} ${text}`).slice(0, 16));
  for (const [at, step] of before.entries()) {
    const written = buildStep(step);
    const crossing = {
      ...getCrossing({ ...SESSION_STEP, ...written, tenant_id, agent_id }, now_ms),
      ...('prompt' in step && { content_label: 'user' }),
      values_seen: values.seen,
    };
    const { values_change } = judge(crossing, policy, fingerprintOf, conditions);
    if (values_change !== null) values.save(values_change, `step_${at + 1}`);
  }
  return { values_seen: values.seen };
}

const SESSION_STEP = { name: 'before', expect: {} } as const;

type SessionStep = NonNullable<PolicyTestCase['before']>[number];

function buildStep(
  step: SessionStep,
): Pick<PolicyTestCase, 'boundary' | 'phase' | 'text' | 'payload' | 'tool'> {
  if ('prompt' in step) return { boundary: 'input', text: step.prompt };
  const { tool, result } = step;
  const content = typeof result === 'string' ? { text: result } : { payload: result };
  return { boundary: 'action', phase: 'response', tool, ...content };
}

/** Members that another layer of rules may make stricter. */
const LAYERED = ['decision', 'action', 'rule', 'text', 'payload'];
const LEAST = { allow: 'allow', modify: 'redact', block: 'require_approval' } as const;

/** Returns whether the verdict is at least as strict as expected and differs in nothing else. */
function isStricter(
  { action, decision }: PolicyTestCase['expect'],
  verdict: Verdict,
  found: readonly CaseDifference[],
): boolean {
  const least = action ?? (decision === undefined ? 'block' : LEAST[decision]);
  return (
    ACTIONS.indexOf(verdict.action) >= ACTIONS.indexOf(least) &&
    found.every(({ field }) => LAYERED.includes(field))
  );
}

const AGENT_MESSAGE = 'agent_to_agent';

function getCrossing(written: PolicyTestCase, nowMs: number): Crossing {
  const { boundary, tool = null, agent_id, source_agent_id, session_tags } = written;
  const phase: Phase | null = boundary === 'action' ? (written.phase ?? 'request') : null;
  const isCall = phase === 'request' || phase === 'response';
  const source = source_agent_id ?? (boundary === 'action' ? (agent_id ?? null) : null);
  return {
    boundary,
    phase,
    content: getContent(written),
    tenant_id: written.tenant_id ?? 'default',
    agent_id: agent_id ?? source_agent_id ?? 'unknown',
    session_id: written.session_id ?? null,
    source_agent_id: source,
    destination_agent_id: written.destination_agent_id ?? (isCall ? tool : null),
    tool: phase === 'message' ? AGENT_MESSAGE : tool,
    declared_tags: written.data_tags ?? [],
    now_ms: nowMs,
    ...(session_tags !== undefined && { session_tags }),
  };
}

function getContent({ text, payload, boundary }: PolicyTestCase): Content {
  if (text !== undefined) return { kind: 'text', text };
  if (payload !== undefined) return { kind: 'json', value: payload as Json };
  return boundary === 'action' ? { kind: 'json', value: {} } : { kind: 'text', text: '' };
}

function findDifferences(
  expect: PolicyTestCase['expect'],
  verdict: Verdict,
  content: Content,
): CaseDifference[] {
  const { findings, violations, monitored, data_tags } = verdict;
  const detectors = findings.flatMap(({ detector, rule_id }) => [detector, rule_id]);
  return [
    ...(['decision', 'action', 'rule'] as const).flatMap((field) =>
      expect[field] === undefined || expect[field] === verdict[field]
        ? []
        : [{ field, expected: expect[field], actual: verdict[field] }],
    ),
    ...listMissing('tags', lowercaseTags(expect.tags), data_tags, (tag) =>
      data_tags.some((each) => covers(tag, each)),
    ),
    ...listUnwanted(
      'no_tags',
      data_tags.filter((tag) => isCoveredBy(lowercaseTags(expect.no_tags), tag)),
    ),
    ...listMissing('detectors', expect.detectors, detectors),
    ...listMissing(
      'violations',
      expect.violations,
      violations.map(({ rule }) => rule),
    ),
    ...listMissing(
      'monitored',
      expect.monitored,
      monitored.map(({ rule }) => rule),
    ),
    ...findContentDifferences(expect, verdict, content),
  ];
}

function lowercaseTags(tags: readonly string[] = []): readonly string[] {
  return tags.map((tag) => tag.toLowerCase());
}

function listMissing(
  field: string,
  wanted: readonly string[] = [],
  found: readonly string[],
  has = (name: string) => found.includes(name),
): CaseDifference[] {
  return wanted
    .filter((name) => !has(name))
    .map((name) => ({ field, expected: name, actual: [...new Set(found)].join(', ') || 'none' }));
}

function listUnwanted(field: string, found: readonly string[]): CaseDifference[] {
  return found.map((tag) => ({ field, expected: 'none of these', actual: tag }));
}

/**
 * Returns the content that is passed on: the changed content, the original content if it is allowed, or `null` if it
 * is blocked.
 */
function getPassedContent(
  { decision, content: changed, fallback_used }: Verdict,
  content: Content,
): Content | null {
  if (changed !== null && (decision === 'modify' || fallback_used)) return changed;
  return decision === 'block' ? null : content;
}

function findContentDifferences(
  { text, payload, must_not_contain = [] }: PolicyTestCase['expect'],
  verdict: Verdict,
  content: Content,
): CaseDifference[] {
  const passed = getPassedContent(verdict, content);
  const plain = passed === null ? null : passed.kind === 'text' ? passed.text : JSON.stringify(passed.value);
  const wanted = text ?? (payload === undefined ? undefined : JSON.stringify(payload));
  const field = text === undefined ? 'payload' : 'text';
  const shown = verdict.decision === 'modify' ? (plain ?? 'nothing') : 'the content as it came, or nothing';
  return [
    ...(wanted === undefined || wanted === plain ? [] : [{ field, expected: wanted, actual: shown }]),
    ...must_not_contain
      .map((each, at) => ({ each, at }))
      .filter(({ each }) => plain !== null && holdsText(plain, each))
      .map(({ at }) => ({
        field: `must_not_contain[${at}]`,
        expected: 'not in the resulting content',
        actual: 'there',
      })),
  ];
}

/** Returns whether a text contains a part, either as is or in its JSON notation. */
function holdsText(plain: string, part: string): boolean {
  return plain.includes(part) || plain.includes(JSON.stringify(part).slice(1, -1));
}
