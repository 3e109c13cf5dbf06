import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../core/types/index.ts';
import { findAdapterProblems, findDialectProblems } from './find-problems.ts';
import { buildAnswer, readEventName, readPayloadChecks, readPayloadSubject } from './read-payload.ts';
import { buildPlaceLookup, fillTemplate } from './template.ts';
import type { CheckSpec, DialectSpec, EventSpec } from './types.ts';

test('a template is filled in with the values at its paths', () => {
  const root: Json = { a: { b: 1, 'c/d': 'x', list: ['y', { z: null }] }, text: 'hi', '': 'empty' };
  const rows: readonly (readonly [template: Json, value: Json, missing?: readonly string[]])[] = [
    ['{/a/b}', 1],
    ['{/a/c~1d}', 'x'],
    ['{/a/list/0}', 'y'],
    ['{/a/list/1/z}', null],
    ['{payload}', root],
    ['{/}', 'empty'],
    ['mcp__{/text}__{/a/b}', 'mcp__hi__1'],
    [{ k: ['{/text}', 2, null, true] }, { k: ['hi', 2, null, true] }],
    ['{other} {} {a}', '{other} {} {a}'],
    ['{/none}', null, ['/none']],
    ['x {/none}', 'x ', ['/none']],
    ['x {/a}', 'x ', ['/a']],
    ['x {/a/list/1/z}', 'x ', ['/a/list/1/z']],
    ['{/text/length}', null, ['/text/length']],
    ['{/constructor}', null, ['/constructor']],
    ['{/__proto__/polluted}', null, ['/__proto__/polluted']],
    ['{reason}', null, ['reason']],
  ];
  for (const [template, value, missing = []] of rows)
    assert.deepEqual(
      fillTemplate(template, buildPlaceLookup(root)),
      { value, missing },
      JSON.stringify(template),
    );
  assert.equal(rows.length, 17);
});

test('what is put in is not filled in again', () => {
  const payload = { a: '{reason}', b: '{/a}' };
  assert.equal(buildAnswer('{/b}: {/a}', payload, { reason: 'no' }), '{/a}: {reason}');
  assert.equal(buildAnswer('{reason}', payload, { reason: 'see {/a}' }), 'see {/a}');
  assert.deepEqual(buildAnswer({ id: '{/id}', changed: '{changed}' }, {}, { changed: { c: 1 } }), {
    id: null,
    changed: { c: 1 },
  });
});

const event = (...checks: CheckSpec[]): EventSpec<Json> => ({ checks, deny: 'no' });

test('checks are read from the payload, and an error quotes nothing of it', () => {
  const call: CheckSpec = { kind: 'call', tool: '{/tool}', content: '{/args}' };
  const each: CheckSpec = {
    kind: 'call',
    each: '/calls',
    tool: '{/name}',
    content: '{/args}',
    json: true,
  };
  const rows: readonly (readonly [EventSpec<Json>, Record<string, Json>, Json | RegExp])[] = [
    [event(call), { tool: 't', args: { a: 1 } }, [{ kind: 'call', tool: 't', content: { a: 1 } }]],
    [event(call), { tool: 't', args: null }, [{ kind: 'call', tool: 't', content: null }]],
    [event(call), { tool: 't' }, /^lacks `\/args`$/],
    [event(call), { args: {} }, /^lacks `\/tool`$/],
    [event(call), { tool: '', args: {} }, /has no name as its tool/],
    [event(call), { tool: ' \t', args: {} }, /has no name/],
    [event(call), { tool: 'a\nb', args: {} }, /has no name/],
    [event(call), { tool: 'a\u2028b', args: {} }, /has no name/],
    [event(call), { tool: 'x'.repeat(257), args: {} }, /has no name/],
    [event(call), { tool: ['t'], args: {} }, /has no name/],
    [
      event(each),
      {
        calls: [
          { name: 'a', args: '{"b": 1}' },
          { name: 'c', args: 'no json' },
        ],
      },
      [
        { kind: 'call', tool: 'a', content: { b: 1 } },
        { kind: 'call', tool: 'c', content: 'no json' },
      ],
    ],
    [event(each), { calls: {} }, /has no list at `\/calls`/],
    [event(each), {}, /has no list/],
    [event(each), { calls: [] }, /holds nothing that could be judged/],
    [event(each), { calls: [{ name: 'a' }] }, /lacks `\/args`/],
    [event({ ...each, optional: true }), {}, /holds nothing that could be judged/],
    [event({ ...each, optional: true }, { ...call, optional: true }), { tool: 't' }, /nothing/],
    [
      event({ ...each, optional: true }, call),
      { tool: 't', args: [] },
      [{ kind: 'call', tool: 't', content: [] }],
    ],
    [event(each), { calls: Array.from({ length: 101 }, () => ({ name: 'a', args: '' })) }, /more than 100/],
  ];
  for (const [written, payload, expected] of rows) {
    const read = readPayloadChecks(written, payload);
    if (expected instanceof RegExp) assert.match(read.ok ? 'read' : read.why, expected);
    else assert.deepEqual(read, { ok: true, value: expected });
  }
  assert.equal(rows.length, 19);
});

test('the event and whom it is about are read', () => {
  const events = { a: event(), b: event() };
  const byPlace = { event: '{/e}', events };
  assert.deepEqual(readEventName(byPlace, { e: 'a' }, null), { ok: true, value: 'a' });
  assert.deepEqual(readEventName(byPlace, { e: 'a' }, 'b'), { ok: true, value: 'b' });
  assert.equal(readEventName(byPlace, {}, null).ok, false);
  assert.equal(readEventName(byPlace, { e: { a: 1 } }, null).ok, false);
  assert.equal(readEventName({ events }, {}, null).ok, false, 'two events, and no setting names one');
  assert.deepEqual(readEventName({ events: { a: event() } }, {}, null), { ok: true, value: 'a' });
  const subject = { session_id: '{/s}', tenant_id: '{/t}' };
  const noNames = { agent_id: null, session_id: null, tenant_id: null, tool_use_id: null };
  assert.deepEqual(readPayloadSubject({ subject }, { s: 's1', t: '' }), {
    ok: true,
    value: { ...noNames, session_id: 's1' },
  });
  assert.equal(readPayloadSubject({ subject }, { s: { a: 1 } }).ok, false);
  assert.equal(readPayloadSubject({ subject }, { s: 'a\u0000' }).ok, false);
});

const DIALECT: DialectSpec = {
  name: 'acme',
  event: '{/e}',
  events: {
    tool: {
      checks: [{ kind: 'call', tool: '{/tool}', content: '{/args}' }],
      deny: { stdout: { allow: false, why: '{reason}' } },
      change: { stdout: { allow: true, args: '{changed}' } },
    },
  },
  ignored_events: ['start'],
  examples: [
    { payload: { e: 'tool', tool: 't', args: 1 }, checks: [{ kind: 'call', tool: 't', content: 1 }] },
    { payload: { e: 'start' }, checks: [] },
  ],
};

test('an adapter that could skip content is not admitted', () => {
  const tool = DIALECT.events.tool!;
  const withEvent = (change: object): DialectSpec => ({
    ...DIALECT,
    events: { tool: { ...tool, ...change } },
  });
  const rows: readonly (readonly [DialectSpec, RegExp])[] = [
    [withEvent({ deny: {} }), /deny` blocks nothing/],
    [withEvent({ deny: { stderr: 'no', code: 1 } }), /deny` blocks nothing/],
    [{ ...withEvent({ deny: { stdout: 'ok' } }), pass: { stdout: 'ok' } }, /deny` blocks nothing/],
    [withEvent({ ask: tool.deny }), /deny` blocks nothing/],
    [withEvent({ change: { stdout: { allow: true } } }), /`\{changed\}` is missing/],
    [withEvent({ checks: [{ kind: 'call', content: '{/args}' }] }), /names no `tool`/],
    [withEvent({ checks: [{ kind: 'prompt', tool: 't', content: '{/args}' }] }), /has a `tool`/],
    [withEvent({ checks: [{ kind: 'answer', content: '{/args}' }] }), /hooks do not judge/],
    [withEvent({ checks: [{ kind: 'prompt', content: { a: '{/args}' } }] }), /its content is no text/],
    [withEvent({ checks: [{ kind: 'call', tool: 't', content: '{/other}' }] }), /lacks `\/other`/],
    [{ ...DIALECT, ignored_events: ['start', 'tool'] }, /is an event that is decided/],
    [{ ...DIALECT, examples: DIALECT.examples.slice(1) }, /`dialects\[0\]\.events\.tool` has no example/],
    [{ ...DIALECT, examples: [{ payload: { e: 'other' }, checks: [] }] }, /is not among `events`/],
    [
      { ...DIALECT, examples: [{ payload: { e: 'tool', tool: 't', args: 1 }, checks: [] }] },
      /is read as \[\{"kind":"call"/,
    ],
  ];
  assert.deepEqual(findDialectProblems(DIALECT, 'acme.mjs', ['dialects', 0]), []);
  for (const [written, words] of rows) {
    const stated = findDialectProblems(written, 'acme.mjs', ['dialects', 0]).map(({ message }) => message);
    assert.match(stated.join('\n'), words);
  }
  assert.equal(rows.length, 14);
});

test('an adapter whose no is its yes is not admitted', () => {
  const adapter = {
    name: 'acme',
    events: {
      prompt: { checks: [{ kind: 'prompt' as const, content: '{/text}' }], deny: { allowed: false } },
    },
    pass: { allowed: true },
    examples: [{ payload: { text: 'a' }, checks: [{ kind: 'prompt' as const, content: 'a' }] }],
  };
  assert.deepEqual(findAdapterProblems(adapter, 'acme.mjs', ['adapters', 0]), []);
  const [problem] = findAdapterProblems({ ...adapter, pass: { allowed: false } }, 'acme.mjs', [
    'adapters',
    0,
  ]);
  assert.match(problem?.message ?? '', /blocks nothing/);
});
