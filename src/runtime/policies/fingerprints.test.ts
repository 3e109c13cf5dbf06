import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Policy } from '../../core/types/index.ts';
import { policy } from '../../server/testing/examples.ts';
import {
  ensureFingerprints,
  getFingerprintKeyPath,
  openFingerprintSealer,
  openFingerprints,
  unsealFingerprint,
} from './fingerprints.ts';

let root = '';
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'fingerprints-'));
});
after(() => rm(root, { recursive: true, force: true }));

const entry = { fingerprint: `hmac-sha256:${'0'.repeat(64)}`, reason: 'r', owner: 'o', expires_ms: 1 };
const listing: Policy = { ...policy, detection: { ...policy.detection, allowlist: [entry] } };

/** Returns a configuration with a state folder of its own. */
async function createPlace(fingerprintKey?: string) {
  const stateDir = await mkdtemp(join(root, 'state-'));
  const origin = { file: null, label: 'service.yaml', base_dir: stateDir };
  const detection = fingerprintKey === undefined ? {} : { fingerprint_key: fingerprintKey };
  return { state_dir: stateDir, origin, detection };
}

test('the key is made once, for its owner alone, and gives the same fingerprints ever after', async () => {
  const config = await createPlace();
  const first = ensureFingerprints(config)('a.b', 'value');
  const path = getFingerprintKeyPath(config.state_dir);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const key = await readFile(path, 'utf8');
  assert.match(first, /^hmac-sha256:[0-9a-f]{64}$/);
  assert.equal(ensureFingerprints(config)('a.b', 'value'), first);
  assert.equal(openFingerprints(config, listing)?.('a.b', 'value'), first);
  assert.equal(await readFile(path, 'utf8'), key);
  await chmod(path, 0o644);
  openFingerprints(config, listing);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('a fingerprint is of one key, one detector and one text', async () => {
  const [one, other] = [ensureFingerprints(await createPlace()), ensureFingerprints(await createPlace())];
  const all = [
    one('a.b', 'value'),
    other('a.b', 'value'),
    one('a.c', 'value'),
    one('a.b', 'value '),
    one('a.b', '\ud800'),
    one('a.b', '\ud801'),
    one('a.b', '\ufffd'),
    one('a.b\nx', 'y'),
  ];
  assert.equal(new Set(all).size, 8);
});

test('a key of the configuration takes the place of the file', async () => {
  const config = await createPlace('k'.repeat(32));
  const made = ensureFingerprints(config)('a.b', 'value');
  assert.equal(openFingerprints(config, listing)?.('a.b', 'value'), made);
  await assert.rejects(stat(getFingerprintKeyPath(config.state_dir)), /ENOENT/);
});

test('a list without its key is refused, and a policy without a list needs none', async () => {
  const config = await createPlace();
  assert.equal(openFingerprints(config, policy), null);
  const refused = {
    name: 'StartFailure',
    code: 'config_invalid',
    message: /detection\.allowlist.*fingerprint-key/,
  };
  assert.throws(() => openFingerprints(config, listing), refused);
  await writeFile(getFingerprintKeyPath(config.state_dir), 'something else');
  assert.throws(() => openFingerprints(config, listing), refused);
  assert.throws(() => ensureFingerprints(config), { code: 'state_unusable' });
  assert.equal(await readFile(getFingerprintKeyPath(config.state_dir), 'utf8'), 'something else');
});

test('the key of sealed fingerprints is created with the first value, and without a key nothing is sealed', async () => {
  const config = await createPlace();
  const seal = openFingerprintSealer(config);
  await assert.rejects(stat(getFingerprintKeyPath(config.state_dir)), { code: 'ENOENT' });
  assert.notEqual(seal('a.b', 'value', 'evt_1'), '-');
  await stat(getFingerprintKeyPath(config.state_dir));
  await writeFile(getFingerprintKeyPath(config.state_dir), 'no key');
  assert.equal(openFingerprintSealer(config)('a.b', 'value', 'evt_1'), '-');
});

test('a sealed fingerprint opens with its own key for its own event alone', async () => {
  const [config, other] = [await createPlace(), await createPlace()];
  const seal = openFingerprintSealer(config);
  openFingerprintSealer(other)('a.b', 'value', 'evt_1');
  const sealed = seal('a.b', 'value', 'evt_1');
  assert.equal(unsealFingerprint(config, sealed, 'evt_1'), ensureFingerprints(config)('a.b', 'value'));
  assert.notEqual(sealed, seal('a.b', 'value', 'evt_1'), 'equal values cannot be recognized');
  const refused = [
    unsealFingerprint(config, sealed, 'evt_2'),
    unsealFingerprint(other, sealed, 'evt_1'),
    unsealFingerprint(await createPlace(), sealed, 'evt_1'),
    unsealFingerprint(config, `${sealed}AA`, 'evt_1'),
    unsealFingerprint(config, '-', 'evt_1'),
  ];
  assert.deepEqual(refused, [null, null, null, null, null]);
});
