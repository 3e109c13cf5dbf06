/** The agents' names for tools and resources of several servers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildPrefixMapping, SAME_NAMES } from './name-mapping.ts';

const github = buildPrefixMapping('github');

const ROWS: readonly (readonly [there: string, shown: RegExp | string])[] = [
  ['search', 'github__search'],
  ['_private', 'github___private'],
  ['x'.repeat(56), `github__${'x'.repeat(56)}`],
  ['a'.repeat(57), /^github__a{47}_[0-9a-f]{8}$/],
  ['commit_0123abcd', 'github__commit_0123abcd'],
  ['a'.repeat(128), /^github__a{47}_[0-9a-f]{8}$/],
  ['repos.list', /^github__repos_list_[0-9a-f]{8}$/],
];

test('names fit what models take, and stand for one tool each', () => {
  const all = new Set<string>();
  for (const [there, shown] of ROWS) {
    const name = github.toAgentName(there);
    assert.ok(typeof shown === 'string' ? name === shown : shown.test(name), name);
    assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
    assert.equal(
      github.toServerName(name),
      typeof shown === 'string' && !/[0-9a-f]{8}$/.test(name) ? there : null,
    );
    assert.equal(github.toPolicyName(there), `github__${there}`);
    all.add(name);
  }
  assert.equal(all.size, 7);
  assert.notEqual(github.toAgentName('repos.list'), github.toAgentName('repos_list'));
});

test('what is another server’s is not taken for one’s own', () => {
  for (const name of ['gitlab__search', 'github_search', 'search', 'github2__search', ''])
    assert.equal(github.toServerName(name), null, name);
  assert.equal(github.toServerUri('github+file:///a'), 'file:///a');
  for (const uri of ['file:///a', 'git+file:///a', 'github2+file:///a'])
    assert.equal(github.toServerUri(uri), null, uri);
  assert.equal(new URL(github.toAgentUri('file:///a.txt')).protocol, 'github+file:');
});

test('one server alone keeps its names', () => {
  for (const name of ['a.b', 'x'.repeat(128), 'github__search'])
    assert.deepEqual(
      [SAME_NAMES.toAgentName(name), SAME_NAMES.toServerName(name), SAME_NAMES.toPolicyName(name)],
      [name, name, name],
    );
  assert.equal(SAME_NAMES.toServerUri('file:///a'), 'file:///a');
});
