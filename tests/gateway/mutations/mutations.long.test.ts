/**
 * Clients only receive content that was judged. Answers are changed in structure, guarded, and read by the vendors' own
 * SDKs and by plain clients. None of them may see masked content or a tool that the policy does not allow.
 * `MUTATIONS=100000` sets the number of answers per format, `MUTATIONS_SEED` the first seed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestPolicy } from '../../../src/core/testing/policies.ts';
import { openAnswerHarness } from '../../../src/gateways/llm/testing/answer-harness.ts';
import type { Came, Oracle, Sight } from '../clients/sight.ts';
import { missingFor } from '../clients.ts';
import { type Baseline, baselines, treeOf } from './baselines.ts';
import { DANGER, getMutant, getRandom, SECRET } from './mutate.ts';
import { plainSight } from './plain-client.ts';

const COUNT = Number(process.env.MUTATIONS ?? 200);
const SEED = Number(process.env.MUTATIONS_SEED ?? 1);
const skip = missingFor('openai') ?? false;

const contract = (toolName: string) => ({
  tool_name: toolName,
  accepts: {},
  emits: {},
  side_effects: { reversible: true, requires_approval: false },
});
const POLICY = buildTestPolicy({
  documents: [{ contracts: ['safe', 'also_safe'].map(contract) }],
  settings: { undeclared_tools: 'block' },
});
const ALLOWED: ReadonlySet<string> = new Set(['safe', 'also_safe']);

const getName = ({ wire, is_stream }: Baseline) => `${wire} ${is_stream ? 'stream' : 'whole'}`;
const getType = ({ is_stream }: Baseline) => (is_stream ? 'text/event-stream' : 'application/json');

async function loadOracle(): Promise<Oracle> {
  const { oracle } = (await import(new URL('../clients/oracle.ts', import.meta.url).href)) as {
    oracle: Oracle;
  };
  return oracle;
}

/**
 * Matches the secret as a separate word. Joined to other letters it is no secret, neither for the client nor for the
 * guard.
 */
const KEY = new RegExp(`(?<![A-Za-z0-9_])${SECRET}(?![A-Za-z0-9_])`);

/** Returns forbidden content in what a client saw; `null` if there is none. */
function leakIn({ texts, tools }: Sight): string | null {
  if (texts.some((text) => KEY.test(text))) return 'the secret';
  return tools.find((tool) => !ALLOWED.has(tool) && tool.includes(DANGER)) ?? null;
}

/** Returns whether the body cannot contain planted content, so that no client has to read it. */
function isHarmless(body: string): boolean {
  return !/\\u|AKIA|QYLP|WXYZ|dan|ger/.test(body);
}

async function getLeak(baseline: Baseline, came: Came, oracle: Oracle): Promise<string | null> {
  if (came.status < 400 && isHarmless(came.body)) return null;
  return leakIn(plainSight(came)) ?? leakIn(await oracle(baseline.wire, came));
}

for (const [at, baseline] of baselines.entries()) {
  const type = getType(baseline);
  const seedOf = (number: number) => (SEED + at) * 1_000_003 + number;

  test(`${getName(baseline)}: no change of structure shows a client what was not judged`, {
    skip,
  }, async () => {
    const oracle = await loadOracle();
    const leaks: string[] = [];
    let passed = 0;
    const chunk = 2_000;
    for (let from = 0; from < COUNT; from += chunk) {
      const { answer } = await openAnswerHarness({ wire: baseline.wire, policy: POLICY });
      for (let number = from; number < Math.min(COUNT, from + chunk); number++) {
        const chunks = getMutant(baseline, getRandom(seedOf(number)));
        const came = { type, ...(await answer(chunks, type)) };
        if (came.status < 400 && !came.body.includes('"error"')) passed += 1;
        const leak = await getLeak(baseline, came, oracle);
        if (leak === null) continue;
        if (leaks.length < 10)
          leaks.push(`number ${number}: ${leak}\n${chunks.join('')}\n--- went out as\n${came.body}`);
      }
    }
    console.log(`${getName(baseline)}: ${COUNT} tried, ${passed} passed`);
    assert.deepEqual(leaks, []);
    assert.ok(passed > COUNT / 50, `${passed} of ${COUNT} came through at all`);
  });

  test(`${getName(baseline)}: unchanged it comes through; unguarded the clients do see it`, {
    skip,
  }, async () => {
    const oracle = await loadOracle();
    const { events, is_stream } = baseline;
    const honest = is_stream
      ? events.map(({ name, data }) => `${name === '' ? '' : `event: ${name}\n`}data: ${plain(data)}\n\n`)
      : [plain(events[0]!.data)];
    const { answer } = await openAnswerHarness({ wire: baseline.wire, policy: POLICY });
    const sight = await oracle(baseline.wire, { type, ...(await answer(honest, type)) });
    assert.ok(
      sight.texts.some((text) => text.includes(baseline.text)),
      JSON.stringify(sight),
    );
    assert.deepEqual(new Set(sight.tools), new Set(baseline.tools));
    let seen = 0;
    for (let number = 0; number < 300; number++) {
      const body = getMutant(baseline, getRandom(seedOf(number))).join('');
      const came = { status: 200, type, body };
      if ((leakIn(plainSight(came)) ?? leakIn(await oracle(baseline.wire, came))) !== null) seen += 1;
    }
    assert.ok(seen > 60, `unguarded, only ${seen} of 300 were seen`);
  });
}

function plain(tree: Baseline['events'][number]['data']): string {
  if (tree === '[DONE]') return tree;
  return JSON.stringify(tree, (_key, value) =>
    typeof value === 'object' && value !== null && 'object' in value && Array.isArray(value.object)
      ? Object.fromEntries(value.object)
      : value,
  );
}

test('the formats are all here', () => {
  assert.equal(baselines.length, 9);
  assert.deepEqual(treeOf({ a: [1] }), { object: [['a', [1]]] });
});
