import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { ACTIONS, type Content, type Crossing, type Verdict } from '../../core/types/index.ts';
import {
  policy as base,
  buildExampleCrossing,
  buildExamplePorts,
  buildExampleRule,
  caller,
  SECRET,
  SSN,
} from '../../server/testing/examples.ts';
import type { AuditEvent } from '../audit/types.ts';
import { enforce } from '../enforcement/enforce.ts';
import { openLazyClassifiers } from './lazy-classifiers.ts';
import { probeClassifier } from './probe-classifier.ts';
import type { ClassifierSettings, Classifiers } from './types.ts';

const LABELS: ClassifierSettings['labels'] = {
  insult: { score_min: 0.8, tag: 'content.insult', severity: 'high' },
  person: { score_min: 0.5, tag: 'personal.pii', severity: 'medium' },
};

const policy = {
  ...base,
  rules: [
    ...base.rules,
    buildExampleRule({
      name: 'no-insults',
      data_tags: ['content.insult'],
      action: 'block',
      boundaries: ['input', 'action'],
      phases: ['response'],
    }),
    buildExampleRule({ name: 'flag-rest', data_tags: ['content'], action: 'flag', boundaries: ['output'] }),
  ],
};

/** A classifier on a free port, and the requests that it received. */
interface TestClassifier {
  readonly classifiers: Classifiers;
  readonly settings: ClassifierSettings;
  readonly asked: { readonly body: Record<string, unknown>; readonly key: string | undefined }[];
  readonly failures: string[];
}

async function startTestClassifier(
  t: TestContext,
  answer: RequestListener,
  parts: Partial<ClassifierSettings> = {},
): Promise<TestClassifier> {
  const asked: TestClassifier['asked'] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    asked.push({
      body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
      key: request.headers.authorization,
    });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const settings: ClassifierSettings = {
    name: 'scorer',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/classify`,
    boundaries: ['input', 'output', 'action'],
    phases: ['request', 'response', 'message'],
    timeout_ms: 2_000,
    text_bytes_max: 10_000,
    on_failure: 'ignore',
    labels: LABELS,
    ...parts,
  };
  const failures: string[] = [];
  const classifiers = openLazyClassifiers({
    settings: [settings],
    // A proxy that does not exist: the text for this machine must not go there.
    env: { HTTP_PROXY: 'http://127.0.0.1:9', SCORER_KEY: 'scorer-key' },
    count: (_name, outcome) => failures.push(outcome),
    onFailure: (name, failure) => failures.push(`${name} ${failure}`),
  })!;
  t.after(async () => {
    await classifiers.close();
    server.closeAllConnections();
    server.close();
  });
  return { classifiers, settings, asked, failures };
}

const answerWith =
  (findings: unknown): RequestListener =>
  (_request, response) =>
    void response.end(JSON.stringify({ findings }));

async function decideCrossing(
  given: Crossing,
  classifiers?: Classifiers,
): Promise<{ verdict: Verdict; event: AuditEvent }> {
  const events: AuditEvent[] = [];
  const { verdict } = await enforce(
    given,
    caller,
    'scan_input',
    buildExamplePorts(events, { policy, ...(classifiers && { classifiers }) }),
  );
  assert.equal(events.length, 1);
  return { verdict, event: events[0]! };
}

test('findings of a classifier are judged, marked and recorded without any text', async (t) => {
  const found = [
    { label: 'insult', score: 0.9, start: 10, end: 19 },
    { label: 'insult', score: 0.7 },
    { label: 'unknown', score: 1 },
  ];
  const { classifiers, asked } = await startTestClassifier(t, answerWith(found), {
    api_key_env: 'SCORER_KEY',
  });
  const { verdict, event } = await decideCrossing(buildExampleCrossing('You are a blockhead.'), classifiers);
  assert.deepEqual([verdict.decision, verdict.rule], ['block', 'no-insults']);
  assert.deepEqual(
    verdict.findings.map(({ rule_id, source, start, end, type }) => ({ rule_id, source, start, end, type })),
    [
      {
        rule_id: 'classifier.scorer.insult',
        source: 'classifier',
        start: 10,
        end: 19,
        type: 'content_detected',
      },
    ],
  );
  assert.deepEqual(event.metadata.found_tags, ['content.insult high classifier 1']);
  assert.deepEqual(event.metadata.rule_ids, ['classifier.scorer.insult']);
  assert.ok(!JSON.stringify(event).includes('blockhead'));
  assert.equal(asked.length, 1);
  assert.deepEqual(asked[0], {
    body: {
      version: 1,
      classifier: 'scorer',
      boundary: 'input',
      phase: null,
      tool: null,
      text: 'You are a blockhead.',
    },
    key: 'Bearer scorer-key',
  });
});

test('a classifier is not called for what the rules block, for no text, and at other boundaries and phases', async (t) => {
  const parts = { boundaries: ['input', 'action'], phases: ['response'] } as const;
  const { classifiers, asked } = await startTestClassifier(t, answerWith([]), parts);
  const result: Partial<Crossing> = { boundary: 'action', phase: 'response', tool: 'web.read' };
  const rows: readonly (readonly [Crossing, number])[] = [
    [buildExampleCrossing(`Use key ${SECRET}`), 0],
    [buildExampleCrossing('  '), 0],
    [buildExampleCrossing('hello', { boundary: 'output' }), 0],
    [buildExampleCrossing('hello', { ...result, phase: 'request' }), 0],
    [buildExampleCrossing('hello', result), 1],
    [buildExampleCrossing('hello'), 1],
    [buildExampleCrossing(`My SSN is ${SSN}.`), 1],
  ];
  let ran = 0;
  for (const [given, calls] of rows) {
    asked.length = 0;
    await decideCrossing(given, classifiers);
    assert.equal(asked.length, calls, `row ${ran}`);
    ran += 1;
  }
  assert.equal(ran, 7);
});

test('offsets count code points, and the strings of a payload are lines', async (t) => {
  const content: Content = { kind: 'json', value: { note: '😀😀 Ann Lee', [SSN]: ['Bob Ray'] } };
  const lines = ['note', '😀😀 Ann Lee', SSN, 'Bob Ray'];
  const text = lines.join('\n');
  const points = [...text];
  const at = (part: string) => {
    const start = [...text.slice(0, text.indexOf(part))].length;
    return { start, end: start + [...part].length };
  };
  const found = [
    { label: 'person', score: 1, ...at('Ann Lee') },
    { label: 'person', score: 1, ...at('Bob Ray') },
    { label: 'person', score: 1, start: 0, end: points.length },
  ];
  const { classifiers, asked } = await startTestClassifier(t, answerWith(found));
  const { verdict } = await decideCrossing(buildExampleCrossing('', { content }), classifiers);
  assert.equal(asked[0]!.body.text, text);
  const added = verdict.findings.filter(({ source }) => source === 'classifier');
  assert.deepEqual(
    added.map(({ leaf, path, start, end, is_whole }) => [leaf, path, start, end, is_whole]),
    [
      [1, '$.note', 5, 12, undefined],
      [3, "$['*'][0]", 0, 7, undefined],
      [0, null, 0, 0, true],
    ],
  );
});

const never: RequestListener = () => {};
const closing: RequestListener = (request) => void request.socket.destroy();
const failures: readonly (readonly [string, RequestListener, Partial<ClassifierSettings>, string])[] = [
  ['no answer', never, { timeout_ms: 50 }, 'timeout'],
  ['a body without end', (_request, response) => void response.write('{'), { timeout_ms: 50 }, 'timeout'],
  ['a closed connection', closing, {}, 'unreachable'],
  ['status 500', (_request, response) => void response.writeHead(500).end('{"findings":[]}'), {}, 'refused'],
  [
    'a redirect',
    (_request, response) => void response.writeHead(307, { location: '/' }).end(),
    {},
    'refused',
  ],
  ['a huge answer', answerWith(['x'.repeat(100_000)]), {}, 'invalid_answer'],
  ['no JSON', (_request, response) => void response.end('blockhead'), {}, 'invalid_answer'],
  ['no list', answerWith(null), {}, 'invalid_answer'],
  ['a score above 1', answerWith([{ label: 'insult', score: 2 }]), {}, 'invalid_answer'],
  ['a place outside', answerWith([{ label: 'insult', score: 1, start: 0, end: 99 }]), {}, 'invalid_answer'],
  ['too many findings', answerWith(Array(101).fill({ label: 'insult', score: 1 })), {}, 'invalid_answer'],
  ['a text that is too long', answerWith([]), { text_bytes_max: 4 }, 'text_too_long'],
  ['no key', answerWith([]), { api_key_env: 'MISSING_KEY' }, 'no_key'],
];

test('a failure adds nothing, or blocks if the operator wants that', async (t) => {
  let ran = 0;
  for (const [name, answer, parts, failure] of failures) {
    for (const onFailure of ['ignore', 'block'] as const) {
      const started = await startTestClassifier(t, answer, { ...parts, on_failure: onFailure });
      const { verdict, event } = await decideCrossing(buildExampleCrossing('hello'), started.classifiers);
      const [decision, ruleName] =
        onFailure === 'block' ? ['block', 'coverage.exceeded'] : ['allow', 'default.allow'];
      assert.deepEqual([verdict.decision, verdict.rule], [decision, ruleName], `${name}, ${onFailure}`);
      assert.deepEqual(event.metadata.classifiers_failed, ['scorer'], name);
      assert.deepEqual(started.failures, [failure, `scorer ${failure}`], name);
      assert.ok(!JSON.stringify(event).includes('blockhead'));
      ran += 1;
    }
  }
  assert.equal(ran, 26);
});

test('a probe reports a classifier that does not work', async (t) => {
  const good = await startTestClassifier(t, answerWith([]));
  assert.equal(await probeClassifier(good.settings, {}), null);
  const bad = await startTestClassifier(t, answerWith(7));
  assert.equal(await probeClassifier(bad.settings, {}), 'It gave an invalid answer.');
  const gone = { ...good.settings, url: 'http://127.0.0.1:9/' };
  assert.equal(await probeClassifier(gone, {}), 'It could not be reached.');
});

test('no classifier is opened where none is configured', () => {
  const parts = { settings: [], env: {}, count: () => {}, onFailure: () => {} };
  assert.equal(openLazyClassifiers(parts), null);
});

/** Answers of every kind: valid ones, almost valid ones, and garbage. */
const answered = fc.record({
  label: fc.constantFrom('insult', 'insult', 'person', 'unknown', '__proto__'),
  score: fc.constantFrom(1, 0.9, 0.85, 0.1, 2, '1'),
});
const places = fc.constantFrom(
  {},
  { start: 0, end: 5 },
  { start: 3, end: 5 },
  { start: 5, end: 99 },
  { end: 1 },
);
const findings = fc
  .array(
    fc.tuple(answered, places).map(([finding, place]) => ({ ...finding, ...place })),
    { maxLength: 3 },
  )
  .map((each) => JSON.stringify({ findings: each }));
const bodies = fc.oneof({ weight: 8, arbitrary: findings }, fc.json(), fc.string());

test('no answer makes a decision milder than that of the rules alone', async (t) => {
  let body = '';
  let status = 200;
  const { classifiers } = await startTestClassifier(
    t,
    (_request, response) => void response.writeHead(status).end(body),
  );
  let ran = 0;
  await fc.assert(
    fc.asyncProperty(
      bodies,
      fc.constantFrom(200, 200, 200, 204, 500),
      fc.constantFrom('hello you', `Use key ${SECRET}`, `My SSN is ${SSN}.`),
      fc.constantFrom('input', 'output'),
      async (each, next, text, boundary) => {
        [body, status] = [each, next];
        const given = buildExampleCrossing(text, { boundary: boundary as 'input' | 'output' });
        const { verdict: own } = await decideCrossing(given);
        const { verdict } = await decideCrossing(given, classifiers);
        const [before, after] = [own, verdict].map(({ action }) => ACTIONS.indexOf(action));
        assert.ok(after! >= before!, `${own.action} became ${verdict.action}`);
        const masked = (one: Verdict) => one.findings.filter(({ action }) => action === 'redact').length;
        if (verdict.decision !== 'block') assert.ok(masked(verdict) >= masked(own));
        ran += 1;
      },
    ),
    { numRuns: 300 },
  );
  assert.equal(ran, 300);
  // The control: an answer that counts makes a decision stricter.
  [body, status] = [JSON.stringify({ findings: [{ label: 'insult', score: 1 }] }), 200];
  const given = buildExampleCrossing('hello you', { boundary: 'input' });
  const [own, judged] = [await decideCrossing(given), await decideCrossing(given, classifiers)];
  assert.ok(ACTIONS.indexOf(judged.verdict.action) > ACTIONS.indexOf(own.verdict.action));
});
