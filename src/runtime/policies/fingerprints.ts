import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { join } from 'node:path';
import { EARLIER_NAME } from '../../core/names.ts';
import type { DocumentProblem, Fingerprinter, Policy } from '../../core/types/index.ts';
import { StartFailure } from '../../platform/failure.ts';
import { readOwnFileSync } from '../../platform/files/own-file.ts';
import { restrictMode, writePrivateFile } from '../../platform/files/private-file.ts';
import type { Config } from '../config/index.ts';
import { buildConfigProblem } from '../config/problem-text.ts';

/** The location of the key: the configuration, or else the state folder. */
type KeyPlace = Pick<Config, 'state_dir' | 'origin'> & {
  readonly detection: Pick<Config['detection'], 'fingerprint_key'>;
};

const KEY = /^[A-Za-z0-9_-]{43}$/;

/** Returns the path of the key that the service creates itself. */
export function getFingerprintKeyPath(stateDir: string): string {
  return join(stateDir, 'fingerprint-key');
}

/**
 * Returns the fingerprint function that a policy needs for its allowlist, or `null` if the allowlist is empty.
 * Restores mode 0600 of the key file if a copy has widened it.
 *
 * @throws StartFailure `config_invalid` if the policy has an allowlist and the key is missing, because no entry
 * could match
 */
export function openFingerprints(config: KeyPlace, policy: Policy): Fingerprinter | null {
  const problem = findFingerprintProblem(config, policy);
  if (problem !== null) throw new StartFailure('config_invalid', problem.message, [problem]);
  if (policy.detection.allowlist.length === 0) return null;
  return createFingerprinter(readKey(config) as string);
}

/** Returns the problem that makes the allowlist of a policy unusable, or `null`. */
export function findFingerprintProblem(config: KeyPlace, { detection }: Policy): DocumentProblem | null {
  if (detection.allowlist.length === 0 || readKey(config) !== null) return null;
  const what =
    'needs the key of its fingerprints: the file `fingerprint-key` in the state folder is missing, ' +
    'cannot be read or holds another key. Restore it, set `detection.fingerprint_key`, or create the entries again ' +
    'with `customshouse fingerprint add`';
  return buildConfigProblem(config.origin.label, ['detection', 'allowlist'], what);
}

/**
 * Returns a fingerprint function with the key of the configuration or of the state folder. Creates the key file
 * (mode 0600) if it is missing.
 */
export function ensureFingerprints(config: KeyPlace): Fingerprinter {
  return createFingerprinter(readFingerprintSecret(config));
}

/**
 * Returns the fingerprint key, from which other keys are derived. Creates the key file if it is missing.
 * @throws StartFailure `state_unusable` if the file holds something else
 */
export function readFingerprintSecret(config: KeyPlace): string {
  const present = readKey(config);
  if (present !== null) return present;
  writePrivateFile(getFingerprintKeyPath(config.state_dir), randomBytes(32).toString('base64url'), 'keep');
  const made = readKey(config);
  if (made !== null) return made;
  const path = getFingerprintKeyPath(config.state_dir);
  throw new StartFailure(
    'state_unusable',
    `The file \`${path}\` is no key of fingerprints, or this user may not read it. Move it away, or restore it.`,
  );
}

/**
 * Computes the fingerprint of a value and encrypts it for one event, as base64url. Only `unsealFingerprint` with the
 * service's key opens it.
 */
export type FingerprintSealer = (ruleId: string, value: string, eventId: string) => string;

/**
 * Returns the sealer for audit events. The key is read, or created, with the first value. If there is none and none can
 * be created, every value gets `NO_FINGERPRINT`, because no decision depends on it.
 */
export function openFingerprintSealer(config: KeyPlace): FingerprintSealer {
  let seal: FingerprintSealer | null = null;
  return (...value) => {
    seal ??= createSealer(config) ?? (() => NO_FINGERPRINT);
    return seal(...value);
  };
}

/** Written to events for a value that cannot be allowlisted from there. */
export const NO_FINGERPRINT = '-';

function createSealer(config: KeyPlace): FingerprintSealer | null {
  try {
    const computeFingerprint = ensureFingerprints(config);
    const key = deriveSealKey(readKey(config) as string);
    return (ruleId, value, eventId) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(eventId, 'utf8'));
      const digest = Buffer.from(computeFingerprint(ruleId, value).slice(PREFIX.length), 'hex');
      return Buffer.concat([nonce, cipher.update(digest), cipher.final(), cipher.getAuthTag()]).toString(
        'base64url',
      );
    };
  } catch {
    return null;
  }
}

/** Returns the fingerprint that was sealed for an event; `null` if it was sealed with another key or for another event. */
export function unsealFingerprint(config: KeyPlace, sealed: string, eventId: string): string | null {
  const secret = readKey(config);
  const bytes = Buffer.from(sealed, 'base64url');
  if (secret === null || bytes.length !== NONCE_BYTES + DIGEST_BYTES + TAG_BYTES) return null;
  try {
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', deriveSealKey(secret), nonce)
      .setAAD(Buffer.from(eventId, 'utf8'))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const digest = Buffer.concat([
      decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)),
      decipher.final(),
    ]);
    return `${PREFIX}${digest.toString('hex')}`;
  } catch {
    return null;
  }
}

const PREFIX = 'hmac-sha256:';
const NONCE_BYTES = 12;
const DIGEST_BYTES = 32;
const TAG_BYTES = 16;

function deriveSealKey(secret: string): KeyObject {
  return createSecretKey(
    Buffer.from(hkdfSync('sha256', secret, '', `${EARLIER_NAME} fingerprint seal 1`, 32)),
  );
}

/**
 * Computes `hmac-sha256:` and hex over the detector and the exact text. UTF-16 keeps different texts different.
 * Without the key, values cannot be guessed by trial, however few are possible.
 */
function createFingerprinter(key: string): Fingerprinter {
  const secret: KeyObject = createSecretKey(key, 'utf8');
  return (ruleId, value) => {
    const mac = createHmac('sha256', secret);
    mac.update(`${EARLIER_NAME} fingerprint 1\n${ruleId}\n`, 'utf16le').update(value, 'utf16le');
    return `${PREFIX}${mac.digest('hex')}`;
  };
}

function readKey({ state_dir, detection }: KeyPlace): string | null {
  if (detection.fingerprint_key !== undefined) return detection.fingerprint_key;
  const path = getFingerprintKeyPath(state_dir);
  try {
    const key = readOwnFileSync(path).trim();
    restrictMode(path);
    return KEY.test(key) ? key : null;
  } catch {
    return null;
  }
}
