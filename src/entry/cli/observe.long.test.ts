import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, runProcess, withFolder } from './testing/run.ts';

const KEY = ['sk-', 'ABCDEF1234567890'].join('');

test('observe lists agents and sessions, and shows what one of them did, oldest first', async () => {
  await withFolder(async (cwd) => {
    const empty = await runInProcess(['observe', 'agents'], { cwd });
    assert.equal(empty.code, 2, empty.stdout);
    assert.match(empty.stderr, /no journal at/);
    for (const [agent, tenant, text] of [
      ['one', 'acme', 'hello'],
      ['two', 'acme', `key ${KEY}`],
      ['one', 'globex', 'again'],
    ] as const) {
      await runProcess(['scan', '--agent', agent, '--tenant', tenant, '--session', 's-1', text], { cwd });
    }
    const json = async (...args: string[]) =>
      JSON.parse((await runInProcess([...args, '--json'], { cwd })).stdout);
    const { agents, next_cursor } = await json('observe', 'agents');
    assert.deepEqual(
      agents.map((each: Record<string, unknown>) => [each.agent_id, each.event_count, each.block_count]),
      [
        ['one', 2, 0],
        ['two', 1, 1],
      ],
    );
    assert.equal(next_cursor, null);
    const { sessions } = await json('observe', 'sessions');
    assert.deepEqual(
      sessions.map((each: Record<string, unknown>) => [each.session_id, each.tenant_id, each.event_count]),
      [
        ['s-1', 'globex', 1],
        ['s-1', 'acme', 2],
      ],
    );
    const trace = await json('observe', 'sessions', 's-1', '--tenant', 'acme');
    assert.deepEqual(
      trace.events.map((event: { agent_id: string }) => event.agent_id),
      ['one', 'two'],
    );
    const timeline = await json('observe', 'agents', 'one', '--limit', '1');
    assert.equal(timeline.event_count, 1);
    assert.equal(timeline.events[0].tenant_id, 'globex');
    assert.equal((await json('observe', 'agents', '--tenant', 'nobody')).count, 0);
    const shown = await runInProcess(['observe', 'sessions', '--session', 's-1'], { cwd });
    assert.match(shown.stdout, /block .* two /);
    assert.ok(!shown.stdout.includes(KEY));
    const folder = join(cwd, '.service');
    for (const [words, when] of [
      [['agents', 'nobody'], 'last 24 h'],
      [['agents', '--tenant', 'nobody'], 'last 24 h'],
      [['sessions', '--tenant', 'nobody'], 'last 24 h'],
      [['sessions', 's-2'], 'all time'],
    ] as const) {
      const { code, stdout } = await runInProcess(['observe', ...words], { cwd });
      assert.equal(code, 0);
      assert.match(
        stdout,
        new RegExp(`^No matching events in ${folder} \\(${when}, \\d events? searched\\)\\.\\n$`),
      );
    }
    const wrong = await runInProcess(['observe', 'agents', '--last', 'soon'], { cwd });
    assert.equal(wrong.code, 2);
  });
});
