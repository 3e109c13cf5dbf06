import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialects } from '../../coding-agents/dialects/index.ts';
import { hosts } from '../../coding-agents/hosts/index.ts';

const MACHINE = { project: '/p', home: '/h', env: {} };

test('every host has a dialect of its name, which knows each event that is wanted', () => {
  assert.deepEqual(
    hosts.map(({ name }) => name),
    dialects.map(({ name }) => name).filter((name) => name !== 'plain'),
  );
  let events = 0;
  for (const { name, wanted, targets, mcp } of hosts) {
    const dialect = dialects.find((each) => each.name === name)!;
    for (const { event } of wanted) {
      assert.ok(Object.hasOwn(dialect.events, event), `${name} ${event}`);
      events += 1;
    }
    const scopes = targets(MACHINE).map(({ scope }) => scope);
    assert.ok(scopes.includes('project') && scopes.includes('user') && !scopes.includes('managed'), name);
    assert.ok(mcp.places(MACHINE).length > 0, name);
  }
  assert.equal(events, 23);
});
