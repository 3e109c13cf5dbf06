import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { celEvaluator } from '../policy/conditions/cel.ts';
import { expectRows } from '../testing/expect-rows.ts';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import {
  ACTIONS,
  type Classification,
  type Content,
  type Crossing,
  type Finding,
  type Policy,
  SEVERITIES,
  type Tag,
  type TaintChange,
  type Verdict,
} from '../types/index.ts';
import { judge } from './judge.ts';
import { buildViolationReplies } from './violation-reply.ts';

const SSN = ['536', '22', '8412'].join('-');
const TEXT = `My number is ${SSN}, you blockhead.`;
const FULL = { status: 'full' } as const;

function buildTestFinding(parts: Partial<Finding> & { readonly tags: readonly [Tag, ...Tag[]] }): Finding {
  return {
    rule_id: 'classifier.scorer.label',
    detector: 'classifier',
    type: 'content_detected',
    severity: 'high',
    leaf: 0,
    path: null,
    source: 'classifier',
    ...{ start: 0, end: 2 },
    ...parts,
  };
}

const WHOLE = { start: 0, end: 0, is_whole: true } as const;

function classify(...findings: Finding[]): { readonly classification: Classification } {
  return { classification: { findings, coverage: FULL, failed: [] } };
}

function judgeText(text: string, policy: Policy, parts: Partial<Crossing> = {}): Verdict {
  const content: Content = { kind: 'text', text };
  return judge(buildTestCrossing({ content, ...parts }), policy, null, celEvaluator);
}

const inputRule = (name: string, tag: string, action: string, more: object = {}) => ({
  ...{ name, boundary: 'input', data_tags: [tag], action },
  ...more,
});

test('a rule matches the tag of a classifier’s finding as that of any other', () => {
  const rows = [
    ['block', 'block', null],
    ['redact', 'modify', '[REDACTED] number is [REDACTED], you blockhead.'],
    ['flag', 'modify', 'My number is [REDACTED], you blockhead.'],
    ['allow', 'modify', 'My number is [REDACTED], you blockhead.'],
  ] as const;
  for (const [action, decision, text] of expectRows(4, rows)) {
    const policy = buildTestPolicy({ rules: [inputRule('insults', 'content.insult', action)] });
    const verdict = judgeText(TEXT, policy, classify(buildTestFinding({ tags: ['content.insult'] })));
    assert.equal(verdict.decision, decision, action);
    assert.deepEqual(verdict.content, text === null ? null : { kind: 'text', text }, action);
  }
  // Without the finding the rule does not match.
  const policy = buildTestPolicy({ rules: [inputRule('insults', 'content.insult', 'block')] });
  assert.equal(judgeText(TEXT, policy).decision, 'modify');
});

test('a finding without a place is blocked where a rule would redact it, and has no match', () => {
  const policy = buildTestPolicy({ rules: [inputRule('insults', 'content.insult', 'redact')] });
  const classified = classify(buildTestFinding({ tags: ['content.insult'], ...WHOLE }));
  const content: Content = { kind: 'text', text: TEXT };
  const verdict = judgeText(TEXT, policy, classified);
  assert.deepEqual([verdict.decision, verdict.rule, verdict.content], ['block', 'insults', null]);
  const [reply] = buildViolationReplies(verdict, content, true).filter(({ source }) => source !== undefined);
  assert.deepEqual(
    [reply?.source, reply?.match, reply?.start, reply?.end],
    ['classifier', undefined, undefined, undefined],
  );
  const placed = judgeText(TEXT, policy, classify(buildTestFinding({ tags: ['content.insult'] })));
  assert.equal(placed.decision, 'modify');
  const [shown] = buildViolationReplies(placed, content, true).filter(({ source }) => source !== undefined);
  assert.deepEqual([shown?.match, shown?.start, shown?.end], ['My', 0, 2]);
  const detected = buildViolationReplies(placed, content, true).filter(({ source }) => source === undefined);
  assert.equal(detected.length, 1);
});

test('a classifier that had to answer and did not makes the coverage partial, which blocks', () => {
  const coverage = { status: 'partial', reason: 'The classifier did not answer.', bytes: 5 } as const;
  const classification: Classification = { findings: [], coverage, failed: ['scorer'] };
  const verdict = judgeText('Hello', buildTestPolicy(), { classification });
  assert.deepEqual([verdict.decision, verdict.rule], ['block', 'coverage.exceeded']);
  const ignored: Classification = { findings: [], coverage: FULL, failed: ['scorer'] };
  assert.equal(judgeText('Hello', buildTestPolicy(), { classification: ignored }).decision, 'allow');
});

test('conditions see the findings of detectors only, so that no answer hides one', () => {
  const policy = buildTestPolicy({
    rules: [
      inputRule('trusted', 'personal', 'allow', { condition: { when: "'content.safe' in data_tags" } }),
      inputRule('many', 'personal', 'allow', { condition: { when: 'findings > 1' } }),
      inputRule('persons', 'personal', 'block'),
      inputRule('safe', 'content.safe', 'flag'),
    ],
  });
  const safe = buildTestFinding({ tags: ['content.safe'] });
  assert.equal(judgeText(TEXT, policy, classify(safe, safe)).rule, 'persons');
  // The control: what the caller declares, and a further finding of a detector, both count.
  assert.equal(judgeText(TEXT, policy, { declared_tags: ['content.safe'] }).decision, 'allow');
  assert.equal(judgeText(`${TEXT} ${SSN}`, policy).decision, 'allow');
});

test('a finding does not stand for the redaction of a declared tag, and clears no taint tag', () => {
  const redacting = buildTestPolicy({ rules: [inputRule('mask', 'internal.note', 'redact')] });
  const declared = { declared_tags: ['internal.note'] };
  const masked = buildTestFinding({ tags: ['internal.note'] });
  assert.equal(judgeText('Hello', redacting, declared).decision, 'block');
  assert.equal(judgeText('Hello', redacting, { ...declared, ...classify(masked) }).decision, 'block');

  const policy = buildTestPolicy({
    rules: [
      inputRule('tainted', 'personal', 'block', { condition: { session_tags: ['untrusted'] } }),
      {
        name: 'clear',
        boundary: 'input',
        data_tags: ['content.safe'],
        session: { remove: ['untrusted'] },
      },
      inputRule('safe', 'content.safe', 'flag'),
    ],
  });
  const safe = { ...classify(buildTestFinding({ tags: ['content.safe'] })), session_tags: ['untrusted'] };
  assert.deepEqual(judgeText('Hello', policy, safe).taint_change?.remove ?? [], []);
  const said = { declared_tags: ['content.safe'], session_tags: ['untrusted'] };
  assert.deepEqual(judgeText('Hello', policy, said).taint_change?.remove, ['untrusted']);
});

const tags = fc.constantFrom('personal', 'personal.pii', 'content', 'content.safe', 'internal.note');
const whens = fc.constantFrom(
  'findings == 1',
  'findings > 1',
  "'content.safe' in data_tags",
  "!('content' in data_tags)",
  "severity == 'high'",
);
const rules = fc.array(
  fc.record({
    data_tags: fc.option(
      tags.map((tag) => [tag]),
      { nil: undefined },
    ),
    action: fc.constantFrom(...ACTIONS),
    fallback_template: fc.option(fc.constant('Withheld.'), { nil: undefined }),
    condition: fc.option(
      whens.map((when) => ({ when })),
      { nil: undefined },
    ),
  }),
  { maxLength: 6 },
);
const findings = fc.array(
  fc.record({ tag: tags, severity: fc.constantFrom(...SEVERITIES), at: fc.nat(20), whole: fc.boolean() }),
  { minLength: 1, maxLength: 4 },
);

function rankVerdict({ action }: Verdict): number {
  return ACTIONS.indexOf(action);
}

function listRemoved(change: TaintChange | null): readonly string[] {
  if (change === null) return [];
  return change.remove === 'all' ? ['*'] : change.remove;
}

/** Fails if `classified` lets anything pass that `own` does not. */
function assertNotMilder(own: Verdict, classified: Verdict): void {
  assert.ok(rankVerdict(classified) >= rankVerdict(own), `${own.action} became ${classified.action}`);
  assert.equal(classified.fault, own.fault);
  if (classified.decision === 'block') return;
  const masks = (verdict: Verdict) =>
    verdict.findings
      .filter(({ action }) => action === 'redact')
      .map(({ leaf, start, end }) => `${leaf} ${start} ${end}`);
  const masked = new Set(masks(classified));
  for (const mask of masks(own)) assert.ok(masked.has(mask), `the mask ${mask} is gone`);
  if (own.fallback_used) assert.deepEqual(classified.content, own.content);
  assert.deepEqual(listRemoved(classified.taint_change), listRemoved(own.taint_change));
}

test('no finding of a classifier makes a verdict milder, whatever the rules are', () => {
  let stricter = 0;
  const runs = 300;
  fc.assert(
    fc.property(
      rules,
      findings,
      fc.constantFrom('input', 'output', 'action'),
      fc.constantFrom([] as string[], ['internal.note'], ['personal.pii']),
      fc.constantFrom('Hello', TEXT),
      (written, answered, boundary, declaredTags, text) => {
        const policy = buildTestPolicy({
          rules: written.map((rule, at) => ({
            name: `rule-${at}`,
            boundary: ['input', 'output', 'action'],
            reason: 'A reason.',
            ...JSON.parse(JSON.stringify(rule)),
            // A rule about the crossing itself has nothing to mask.
            ...(rule.data_tags === undefined && rule.action === 'redact' && { action: 'flag' }),
          })),
        });
        const added = answered.map(({ tag, severity, at, whole }) =>
          buildTestFinding({ tags: [tag], severity, start: at, end: at + 3, ...(whole && WHOLE) }),
        );
        const shape =
          boundary === 'action'
            ? ({ boundary, phase: 'response', tool: 'web.read' } as const)
            : ({ boundary: boundary as 'input' | 'output' } as const);
        const given = { ...shape, declared_tags: declaredTags };
        const own = judgeText(text, policy, given);
        const classified = judgeText(text, policy, { ...given, ...classify(...added) });
        if (rankVerdict(classified) > rankVerdict(own)) stricter += 1;
        assertNotMilder(own, classified);
      },
    ),
    { numRuns: runs },
  );
  // The control: the classifier decides often enough for the comparison to mean something.
  assert.ok(stricter > runs / 10, `${stricter} of ${runs}`);
});
