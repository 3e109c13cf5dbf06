/** Each way into the program decides on wrapped injections as `judge` does. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { injections, WRAPPINGS } from '../cases/injections/wrappings.ts';
import { listContentMarks } from '../src/core/decision/content-marks.ts';
import { judge } from '../src/core/decision/judge.ts';
import { buildTestCrossing, buildTestPolicy } from '../src/core/testing/policies.ts';
import type { Crossing, Json } from '../src/core/types/index.ts';
import { quickstart } from '../src/sdk/index.ts';
import { startGateway } from './gateway/gateway.ts';
import { KEY } from './gateway/runs.ts';
import { hook } from './hook/support.ts';
import { connectStdio, ERAS } from './mcp/connect.ts';
import { text as textResult, tool } from './mcp/servers/script.ts';
import { type Provider, startProvider } from './support/provider/provider.ts';
import type { TestService } from './support/service.ts';

const POLICY = buildTestPolicy();
/** Injections that are blocked and one that is only marked, and harmless text. */
const TEXTS = [injections[0]!, injections[2]!, injections[3]!, injections[5]!, 'The parcel has arrived.'];
const NEAR = [
  'tests',
  'release notes',
  'https://acme.test/prompt-injection/jailbreak',
  'Jailbreaks explained',
];
const LAYOUTS = [
  'value',
  'nested',
  'pretty-printed',
  'escaped',
  'in JSON',
  'per line',
  'fenced',
  'base64',
] as const;
const samples = TEXTS.flatMap((text) =>
  LAYOUTS.flatMap((layout) => NEAR.map((near) => WRAPPINGS[layout]!(text, near))),
);

interface Decided {
  readonly decision: string;
  readonly rule: string;
  readonly marks: readonly string[];
}

function decide(parts: Partial<Crossing>): Decided {
  const crossing = buildTestCrossing(parts);
  const verdict = judge(crossing, POLICY);
  return {
    decision: verdict.decision,
    rule: verdict.rule,
    marks: listContentMarks(crossing, verdict),
  };
}

function decideResult(output: Json): Decided {
  const content =
    typeof output === 'string'
      ? ({ kind: 'text', text: output } as const)
      : ({ kind: 'json', value: output } as const);
  return decide({ boundary: 'action', phase: 'response', tool: 'fetch', content });
}

const pick = ({ decision, rule, marks = [] }: Omit<Decided, 'marks'> & Partial<Decided>): Decided => ({
  decision,
  rule,
  marks,
});

/** Returns the value of a document, or an object around another text. */
function parseSample(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return { result: [text] };
  }
}

/** The decision on each sample as a tool result. */
const expected = samples.map(decideResult);

let folder: string;
let provider: Provider;
let service: TestService;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wrapped-'));
  provider = await startProvider();
  service = await startGateway(provider);
});
after(async () => {
  await service?.stop();
  await provider?.close();
  rmSync(folder, { recursive: true });
});

async function post(path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const replied = (await answer.json()) as Decided;
  assert.equal(answer.status, 200, JSON.stringify(replied));
  return replied;
}

test('the samples are blocked, marked and allowed', () => {
  const counts = Map.groupBy(expected, ({ decision, marks }) => `${decision} ${marks.join()}`);
  assert.equal(samples.length, 160);
  assert.deepEqual([...counts.keys()].sort(), ['allow ', 'allow data', 'block ']);
  for (const [kind, all] of counts) assert.ok(all.length >= 32, kind);
});

test('the HTTP API decides on wrapped injections like the core', async () => {
  const decideAt = async (text: string) => {
    const content = { kind: 'text', text } as const;
    const about = { tool: 'fetch', phase: 'response' };
    const output = parseSample(text);
    const replies = await Promise.all([
      post('/v1/scan/input', { text }),
      post('/v1/guard/output', { text }),
      post('/v1/intercept/tool', { ...about, output: text }),
      post('/v1/intercept/tool', { ...about, output }),
    ]);
    const judged = [
      decide({ boundary: 'input', content }),
      decide({ boundary: 'output', content }),
      decideResult(text),
      decideResult(output),
    ];
    assert.deepEqual(replies.map(pick), judged, text);
  };
  for (const text of samples) await decideAt(text);
});

test('the SDK in process decides on wrapped injections like the core', async () => {
  const guard = quickstart({ audit_path: join(folder, 'journal.jsonl') });
  for (const text of samples) {
    const content = { kind: 'text', text } as const;
    assert.deepEqual(pick(await guard.input(text)), decide({ boundary: 'input', content }), text);
    assert.deepEqual(pick(await guard.output(text)), decide({ boundary: 'output', content }), text);
    for (const output of [text, parseSample(text)])
      assert.deepEqual(pick(await guard.toolResult('fetch', output)), decideResult(output), text);
  }
  await guard.close();
});

const WITHHELD = /^\[The result of this tool was withheld\. /;

/** Checks the results that the provider received: a notice instead of a blocked one, all others unchanged. */
function assertForwarded(results: readonly string[]): void {
  assert.equal(results.length, samples.length);
  for (const [at, sample] of samples.entries()) {
    if (expected[at]!.decision === 'block') assert.match(results[at]!, WITHHELD, sample);
    else assert.equal(results[at], sample);
  }
}

const getBody = () => JSON.parse(provider.received().at(-1)!.body.toString('utf8'));

test('the LLM proxy withholds wrapped injections in chat completions', async () => {
  const toolCalls = samples.map((_, at) => ({
    id: `c${at}`,
    type: 'function',
    function: { name: 'fetch', arguments: '{}' },
  }));
  await post(
    '/v1/chat/completions',
    {
      model: 'gpt-5.4-mini',
      messages: [
        { role: 'user', content: 'Look it up.' },
        { role: 'assistant', tool_calls: toolCalls },
        ...samples.map((content, at) => ({ role: 'tool', tool_call_id: `c${at}`, content })),
      ],
    },
    { authorization: `Bearer ${KEY}` },
  );
  const { messages } = getBody() as { messages: readonly { content: string }[] };
  assertForwarded(messages.slice(2).map(({ content }) => content));
});

test('the LLM proxy withholds wrapped injections in Anthropic messages', async () => {
  const calls = samples.map((_, at) => ({ type: 'tool_use', id: `t${at}`, name: 'fetch', input: {} }));
  await post(
    '/v1/messages',
    {
      model: 'claude-sonnet-5',
      max_tokens: 64,
      messages: [
        { role: 'user', content: 'Look it up.' },
        { role: 'assistant', content: calls },
        {
          role: 'user',
          content: samples.map((content, at) => ({ type: 'tool_result', tool_use_id: `t${at}`, content })),
        },
      ],
    },
    { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' },
  );
  const { messages } = getBody() as { messages: readonly { content: readonly { content: string }[] }[] };
  assertForwarded(messages[2]!.content.map(({ content }) => content));
});

test('the MCP proxy answers wrapped injections with an error', async () => {
  const named = samples.map((sample, at) => [`t${at}`, sample] as const).filter((_, at) => at % 3 === 0);
  const file = join(folder, 'script.json');
  const answers = Object.fromEntries(named.map(([name, sample]) => [name, textResult(sample)]));
  writeFileSync(file, JSON.stringify({ tools: named.map(([name]) => tool(name)), answers }));
  const scripted = join(import.meta.dirname, 'mcp', 'servers', 'scripted.ts');
  const client = await connectStdio({
    era: ERAS[0],
    dir: service.dir,
    args: ['--wrap', '--name', 'wrapped', '--', process.execPath, scripted],
    env: { SCRIPT: file },
  });
  try {
    for (const [name, sample] of named) {
      const { isError, _meta } = await client.callTool({ name, arguments: {} });
      const { decision, marks } = decideResult(sample);
      assert.equal(isError === true, decision === 'block', sample);
      assert.deepEqual(_meta?.['customshouse/marks'] ?? [], marks, sample);
    }
  } finally {
    await client.close();
  }
});

test('the hook replaces wrapped injections in results', async () => {
  for (const sample of samples.filter((_, at) => at % 13 === 5)) {
    const ran = await hook(service.dir, {
      session_id: 's1',
      cwd: service.dir,
      hook_event_name: 'PostToolUse',
      tool_name: 'WebFetch',
      tool_input: { url: 'https://acme.test' },
      tool_response: { result: sample, code: 200 },
      tool_use_id: 'u1',
    });
    assert.equal(ran.code, 0, ran.stderr);
    const { decision, marks } = decideResult({ result: sample, code: 200 });
    const replied = ran.stdout === '' ? {} : JSON.parse(ran.stdout);
    assert.equal(replied.decision === 'block', decision === 'block', sample);
    assert.equal('additionalContext' in (replied.hookSpecificOutput ?? {}), marks.length > 0, sample);
  }
});
