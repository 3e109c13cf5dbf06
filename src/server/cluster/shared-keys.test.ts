// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
/** Keys that all nodes share: derived from one secret, or copied, and compared before a node decides. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ListedNode } from '../../platform/cluster/coordinator.ts';
import { readToken } from '../../runtime/access/tokens.ts';
import { loadConfig } from '../load-config.ts';
import { deriveSharedKeys, type KeyConfig, prepareSharedKeys, requireEqualKeys } from './shared-keys.ts';

const FILES = ['approval-link-key', 'fingerprint-key', 'memory-key', 'totp-key'];
const SECRET = ['a', 'secret', 'of', 'all', 'nodes', 'for', 'tests', 'only'].join('-');

async function openNode(t: TestContext, text = '{}'): Promise<KeyConfig> {
  const cwd = mkdtempSync(join(tmpdir(), 'shared-keys-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'service.yaml'), text);
  const read = await loadConfig({ path: null, env: { SECRET, KEY: 'k'.repeat(32) }, cwd });
  assert.ok(read.ok, JSON.stringify(read));
  return { ...read.config, state_dir: cwd };
}

const publish = (digests: object): ListedNode =>
  ({ node_id: 'a', key_digests: JSON.stringify(digests) }) as ListedNode;

const read = ({ state_dir }: KeyConfig, file: string) => readFileSync(join(state_dir, file), 'utf8').trim();

test('the first node creates the keys, and a second one without them is refused with what to copy', async (t) => {
  const [first, second] = [await openNode(t), await openNode(t)];
  const digests = prepareSharedKeys(first, []);
  assert.deepEqual(Object.keys(digests), FILES);
  for (const file of FILES) {
    assert.equal(statSync(join(first.state_dir, file)).mode & 0o777, 0o600);
    assert.ok(!JSON.stringify(digests).includes(read(first, file)), 'a digest is not the key');
  }
  assert.throws(() => prepareSharedKeys(second, [publish(digests)]), {
    code: 'cluster_keys_missing',
    message:
      /Copy `approval-link-key`, `fingerprint-key`, `memory-key`, `totp-key` from .*`cluster\.secret`.* Then start again\.$/,
  });
  for (const file of FILES) assert.throws(() => read(second, file), 'nothing was created');
  for (const file of FILES) writeFileSync(join(second.state_dir, file), read(first, file));
  const copied = prepareSharedKeys(second, [publish(digests)]);
  assert.deepEqual(copied, digests);
  requireEqualKeys(second, copied, publish(digests));
});

test('keys that differ are named, each with its remedy', async (t) => {
  const configured = await openNode(t, 'memory: {master_key: "${KEY}"}');
  const other = prepareSharedKeys(await openNode(t), []);
  const own = prepareSharedKeys(configured, []);
  assert.throws(() => requireEqualKeys(configured, own, publish(other)), {
    code: 'cluster_keys_differ',
    message:
      /not those of the node `a`\. Give `memory\.master_key` the same value on all nodes\. Copy `approval-link-key`, `fingerprint-key`, `totp-key` from/,
  });
  const { 'totp-key': _left, ...rest } = other;
  assert.throws(
    () => requireEqualKeys(configured, own, publish(rest)),
    ({ message }: Error) => !message.includes('totp'),
  );
  requireEqualKeys(configured, own, publish({}));
});

test('one secret gives all nodes the same keys and tokens, and replaces none', async (t) => {
  const text = 'cluster: {secret: "${SECRET}"}';
  const [first, second, late] = [await openNode(t, text), await openNode(t, text), await openNode(t, text)];
  writeFileSync(join(late.state_dir, 'totp-key'), 'x'.repeat(43));
  for (const node of [first, second, late]) deriveSharedKeys(node);
  const digests = prepareSharedKeys(first, []);
  assert.deepEqual(prepareSharedKeys(second, [publish(digests)]), digests);
  for (const kind of ['operator', 'agent'] as const) {
    assert.match(readToken(first.state_dir, kind)!, new RegExp(`^svc_${kind}_`));
    assert.equal(readToken(first.state_dir, kind), readToken(second.state_dir, kind));
  }
  assert.equal(new Set([...FILES, 'operator-token'].map((file) => read(first, file).slice(-43))).size, 5);
  assert.equal(read(late, 'totp-key'), 'x'.repeat(43));
  assert.throws(() => requireEqualKeys(late, prepareSharedKeys(late, []), publish(digests)), {
    message: /Copy `totp-key` .*remove the files on all nodes/,
  });
});

test('without a secret nothing is derived, and a lost key of an allowlist is not replaced', async (t) => {
  const node = await openNode(t);
  deriveSharedKeys(node);
  for (const file of FILES) assert.throws(() => read(node, file));
  const entry = {
    fingerprint: `hmac-sha256:${'0'.repeat(64)}`,
    reason: 'r',
    owner: 'o',
    expires_at: '2030-01-01',
  };
  const listed = { ...node, detection: { ...node.detection, allowlist: [entry] } };
  assert.deepEqual(
    Object.keys(prepareSharedKeys(listed, [])),
    FILES.filter((file) => file !== 'fingerprint-key'),
  );
});
