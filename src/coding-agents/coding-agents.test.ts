import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codingAgents } from './coding-agents.ts';
import { dialects } from './index.ts';

const MACHINE = { project: '/p', home: '/h', env: {} };

test('every agent has a dialect of its name, which knows each event that is wanted', () => {
  assert.deepEqual(
    codingAgents.map(({ name }) => name),
    dialects.map(({ name }) => name).filter((name) => name !== 'plain'),
  );
  let events = 0;
  for (const { name, dialect, settings } of codingAgents) {
    const { wanted_hooks, targets, mcp_servers } = settings;
    assert.equal(dialect.name, name);
    for (const { event } of wanted_hooks) {
      assert.ok(Object.hasOwn(dialect.events, event), `${name} ${event}`);
      events += 1;
    }
    const scopes = targets(MACHINE).map(({ scope }) => scope);
    assert.ok(scopes.includes('project') && scopes.includes('user') && !scopes.includes('managed'), name);
    assert.ok(mcp_servers.locations(MACHINE).length > 0, name);
  }
  assert.equal(events, 23);
});
