import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { link, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EARLIER_NAME } from '../../core/names.ts';
import { isForeignEntry, readOwnFile } from '../../platform/files/own-file.ts';
import { AuditFailure, getSystemCode } from './failure.ts';
import { buildTemporaryName, FILE_MODE, makeDir, syncDir, writeFileDurably } from './files.ts';
import type { ChainHead, WriterHead } from './journal-record.ts';

/** The key that signs a journal's checkpoints. The private key never leaves the process and its file. */
export interface SigningKey {
  readonly key_id: string;
  readonly private_key: KeyObject;
}

/**
 * The public key, as stored in `<key_id>.json`. A rotated key is endorsed by its predecessor, so that trust in the
 * first key extends to the last.
 */
export interface PublicKeyRecord {
  /** The first 32 hex digits of SHA-256 over the public key (SPKI, DER). */
  readonly key_id: string;
  readonly algorithm: 'ed25519';
  /** SPKI, DER, base64. */
  readonly public_key: string;
  readonly created_at: string;
  readonly endorsed_by: string | null;
  /** Ed25519 by `endorsed_by` over `formatEndorsementMessage`, base64. */
  readonly endorsement: string | null;
  /** Ed25519 by the key itself over all fields above, base64; absent in keys of earlier versions. */
  readonly self_signature?: string;
}

const CURRENT = 'current';

/**
 * Opens the active key, and creates the first one if there is none. Safe if several processes start at once: all get
 * the same key. `dir` is the folder of keys (0700; private files 0600).
 */
export async function openSigningKey(options: { dir: string; now_ms: () => number }): Promise<SigningKey> {
  await makeDir(options.dir);
  const current = await readCurrent(options.dir);
  if (current !== null) return loadPrivateKey(options.dir, current);
  const key = await createKey(options.dir, null, options.now_ms());
  const won = await linkCurrent(options.dir, key.key_id);
  if (!won) await removeKey(options.dir, key.key_id);
  return loadPrivateKey(options.dir, (await readCurrent(options.dir)) ?? key.key_id);
}

/**
 * Creates a key that the active key endorses, and makes it the active key of journals that are opened from now on.
 * Deletes the old private key. The old public key remains, so that its signatures can be verified.
 */
export async function rotateSigningKey(options: { dir: string; now_ms: () => number }): Promise<SigningKey> {
  const old = await openSigningKey(options);
  const key = await createKey(options.dir, old, options.now_ms());
  await writeFileDurably(join(options.dir, CURRENT), `${key.key_id}\n`);
  await rm(buildPrivatePath(options.dir, old.key_id), { force: true });
  await syncDir(options.dir);
  return key;
}

/** Loads the public keys in a folder, sorted by ID. Skips files that are not valid public keys. */
export async function loadPublicKeys(dir: string): Promise<PublicKeyRecord[]> {
  const names = await readdir(dir).catch(() => [] as string[]);
  const keys: PublicKeyRecord[] = [];
  for (const name of names.filter((each) => each.endsWith('.json')).sort()) {
    const text = await readOwnFile(join(dir, name)).catch(() => null);
    const key = text === null ? null : parsePublicKey(text);
    if (key !== null) keys.push(key);
  }
  return keys;
}

/** The trusted keys, and the roots among them, which no trusted key endorses. */
export interface TrustedKeys {
  readonly keys: ReadonlyMap<string, KeyObject>;
  readonly roots: readonly string[];
  /** The IDs of all public keys that are there, trusted or not. */
  readonly present: ReadonlySet<string>;
}

/** Returns whether a signature names a key that is not there, so that it cannot be checked. */
export function isMissingKey(keyId: unknown, { present }: TrustedKeys): boolean {
  return typeof keyId === 'string' && /^[0-9a-f]{32}$/.test(keyId) && !present.has(keyId);
}

/**
 * Follows the endorsements. With `trustedKeyId`, only that key and the keys that it endorses, directly or indirectly,
 * are trusted. Without it, every key without an endorsement is a root.
 */
export function trustKeys(
  records: readonly PublicKeyRecord[],
  trustedKeyId: string | null = null,
): TrustedKeys {
  const roots = records.filter((record) =>
    trustedKeyId === null ? record.endorsed_by === null : record.key_id === trustedKeyId,
  );
  const keys = new Map(roots.map((record) => [record.key_id, decodePublicKey(record)]));
  for (let grew = true; grew; ) {
    grew = false;
    for (const record of records) {
      if (keys.has(record.key_id) || !isEndorsed(record, keys)) continue;
      keys.set(record.key_id, decodePublicKey(record));
      grew = true;
    }
  }
  const present = new Set(records.map(({ key_id }) => key_id));
  return { keys, roots: roots.map((record) => record.key_id), present };
}

function isEndorsed(record: PublicKeyRecord, keys: ReadonlyMap<string, KeyObject>): boolean {
  const endorser = keys.get(record.endorsed_by ?? '');
  return (
    endorser !== undefined && isSigned(formatEndorsementMessage(record), record.endorsement ?? '', endorser)
  );
}

/**
 * Signs a text; base64. The first line of the text names its purpose, so that a signature is not valid for another use.
 */
export function signMessage(message: string, key: SigningKey): string {
  return sign(null, Buffer.from(message), key.private_key).toString('base64');
}

/** Returns whether `signature` (base64) is valid for `message`. */
export function isSigned(message: string, signature: string, key: KeyObject): boolean {
  return verify(null, Buffer.from(message), key, Buffer.from(signature, 'base64'));
}

/**
 * Builds the text that a checkpoint signs: at that time, the chain of `writer` ended at `head`, and those of other
 * writers had reached `heads`. Checkpoints of earlier versions have no `heads`.
 */
export function buildCheckpointMessage(
  writer: string,
  head: ChainHead,
  timestamp: string,
  heads: readonly WriterHead[] | undefined,
): string {
  const version = heads === undefined ? 1 : 2;
  const own = `${EARLIER_NAME} journal checkpoint ${version}\n${writer}\n${head.seq}\n${head.record_hash}\n${timestamp}`;
  const others = (heads ?? []).map((each) => `\n${each.writer} ${each.seq} ${each.record_hash}`);
  return own + others.join('');
}

function formatEndorsementMessage(record: PublicKeyRecord): string {
  return `${EARLIER_NAME} journal key 1\n${record.key_id}\n${record.public_key}\n${record.created_at}\n${record.endorsed_by}`;
}

function formatSelfMessage(record: PublicKeyRecord): string {
  const { key_id, algorithm, public_key, created_at, endorsed_by, endorsement } = record;
  const fields = [key_id, algorithm, public_key, created_at, endorsed_by, endorsement];
  return `${EARLIER_NAME} journal public key 1\n${JSON.stringify(fields)}`;
}

async function createKey(dir: string, endorser: SigningKey | null, nowMs: number): Promise<SigningKey> {
  const pair = generateKeyPairSync('ed25519');
  const publicDer = pair.publicKey.export({ type: 'spki', format: 'der' });
  const unsigned: PublicKeyRecord = {
    key_id: computeKeyId(publicDer),
    algorithm: 'ed25519',
    public_key: publicDer.toString('base64'),
    created_at: new Date(nowMs).toISOString(),
    endorsed_by: endorser?.key_id ?? null,
    endorsement: null,
  };
  const endorsement = endorser === null ? null : signMessage(formatEndorsementMessage(unsigned), endorser);
  const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeFileDurably(buildPrivatePath(dir, unsigned.key_id), String(pem));
  const key = { key_id: unsigned.key_id, private_key: pair.privateKey };
  const endorsed = { ...unsigned, endorsement };
  const selfSignature = signMessage(formatSelfMessage(endorsed), key);
  await writeFileDurably(
    buildPublicPath(dir, key.key_id),
    `${JSON.stringify({ ...endorsed, self_signature: selfSignature }, null, 2)}\n`,
  );
  return key;
}

async function removeKey(dir: string, keyId: string): Promise<void> {
  await rm(buildPrivatePath(dir, keyId), { force: true });
  await rm(buildPublicPath(dir, keyId), { force: true });
}

/** Activates the first key, unless another process was faster. Creating a link is atomic. */
async function linkCurrent(dir: string, keyId: string): Promise<boolean> {
  const path = join(dir, CURRENT);
  const temporary = buildTemporaryName(path);
  const file = await open(temporary, 'wx', FILE_MODE);
  try {
    await file.writeFile(`${keyId}\n`);
    await file.sync();
    await link(temporary, path);
    await syncDir(dir);
    return true;
  } catch (error) {
    if (getSystemCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
}

async function readCurrent(dir: string): Promise<string | null> {
  try {
    return (await readOwnFile(join(dir, CURRENT))).trim();
  } catch (error) {
    if (getSystemCode(error) === 'ENOENT') return null;
    throw isForeignEntry(error) ? buildUnusableKeyFailure('is not named: `current` is not a file') : error;
  }
}

async function loadPrivateKey(dir: string, keyId: string): Promise<SigningKey> {
  try {
    const privateKey = createPrivateKey(await readOwnFile(buildPrivatePath(dir, keyId)));
    const publicDer = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
    if (privateKey.asymmetricKeyType === 'ed25519' && computeKeyId(publicDer) === keyId)
      return { key_id: keyId, private_key: privateKey };
  } catch (error) {
    if (getSystemCode(error) === 'EACCES') throw buildUnusableKeyFailure('may not be read by this user');
  }
  throw buildUnusableKeyFailure('is missing or is not the key that `current` names');
}

function buildUnusableKeyFailure(what: string): AuditFailure {
  return new AuditFailure(
    'signing_key_unusable',
    `The journal's signing key ${what}. Restore the \`keys\` folder from a backup, or delete its \`current\` file to start with a new key.`,
  );
}

function parsePublicKey(text: string): PublicKeyRecord | null {
  try {
    const record = JSON.parse(text) as PublicKeyRecord;
    const key = decodePublicKey(record);
    const fits = computeKeyId(key.export({ type: 'spki', format: 'der' })) === record.key_id;
    const isEd25519 = key.asymmetricKeyType === 'ed25519' && record.algorithm === 'ed25519';
    const { self_signature } = record;
    const isWhole = self_signature === undefined || isSigned(formatSelfMessage(record), self_signature, key);
    return fits && isEd25519 && isWhole ? record : null;
  } catch {
    return null;
  }
}

function decodePublicKey(record: PublicKeyRecord): KeyObject {
  return createPublicKey({ key: Buffer.from(record.public_key, 'base64'), type: 'spki', format: 'der' });
}

function computeKeyId(publicDer: Buffer): string {
  return createHash('sha256').update(publicDer).digest('hex').slice(0, 32);
}

function buildPrivatePath(dir: string, keyId: string): string {
  return join(dir, `${keyId}.private.pem`);
}

function buildPublicPath(dir: string, keyId: string): string {
  return join(dir, `${keyId}.json`);
}
