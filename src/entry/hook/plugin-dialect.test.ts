import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnreadablePayload } from '../../coding-agents/record/payload.ts';
import type { DialectSpec } from '../../runtime/adapters/types.ts';
import { buildPluginDialect } from './plugin-dialect.ts';

const WRITTEN: DialectSpec = {
  name: 'acme',
  event: '{/e}',
  subject: { session_id: '{/s}' },
  events: {
    tool: {
      checks: [{ kind: 'call', tool: '{/tool}', content: '{/args}' }],
      deny: { stdout: { id: '{/id}', allow: false, why: '{reason}' } },
      change: { stdout: { allow: true, args: '{changed}' } },
      ask: { stdout: 'ask: {reason}', stderr: 'asked', code: 1 },
    },
    result: {
      checks: [{ kind: 'result', tool: 't', content: '{/out}' }],
      deny: { stderr: '{reason}', code: 2 },
    },
    prompt: { checks: [{ kind: 'prompt', content: '{/text}' }], deny: { stderr: '{reason}', code: 2 } },
  },
  ignored_events: ['start'],
  pass: { stdout: { allow: true } },
  examples: [],
};

test('a coding agent of a plug-in is read and answered as it is described', () => {
  const acme = buildPluginDialect(WRITTEN);
  const payload = { id: 7, e: 'tool', s: 's1', tool: 'Bash', args: { command: 'ls' } };
  assert.equal(acme.recognises(payload), false, 'it is never guessed');
  assert.equal(acme.readEvent(payload, null), 'tool');
  assert.equal(acme.readSubject(payload).session_id, 's1');
  const { tool, result, prompt } = acme.events;
  assert.deepEqual(tool!.checks(payload), [{ kind: 'call', tool: 'Bash', input: { command: 'ls' } }]);
  assert.deepEqual(tool!.deny('no', payload), {
    stdout: '{"id":7,"allow":false,"why":"no"}\n',
    stderr: '',
    code: 0,
  });
  assert.deepEqual(tool!.change!({ command: 'pwd' }, 'no', payload, null), {
    stdout: '{"allow":true,"args":{"command":"pwd"}}\n',
    stderr: '',
    code: 0,
  });
  assert.deepEqual(tool!.ask!('sure?', payload), { stdout: 'ask: sure?\n', stderr: 'asked\n', code: 1 });
  assert.deepEqual(result!.checks({ out: [1] }), [{ kind: 'result', tool: 't', output: [1] }]);
  assert.deepEqual(result!.deny('no', {}), { stdout: '', stderr: 'no\n', code: 2 });
  assert.deepEqual([result!.change, result!.ask], [undefined, undefined]);
  assert.deepEqual(prompt!.checks({ text: 'hi' }), [{ kind: 'prompt', text: 'hi' }]);
  assert.deepEqual(acme.pass, { stdout: '{"allow":true}\n', stderr: '', code: 0 });
  assert.equal(acme.refuse('no').code, 2);
});

test('an unreadable payload is reported as such', () => {
  const acme = buildPluginDialect(WRITTEN);
  const { tool, prompt } = acme.events;
  for (const read of [
    () => acme.readEvent({}, null),
    () => acme.readSubject({ s: ['s'] }),
    () => tool!.checks({ tool: 'Bash' }),
    () => prompt!.checks({ text: { a: 1 } }),
  ])
    assert.throws(read, UnreadablePayload);
});
