import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentProblem, Fingerprinter, Policy } from '../../core/types/index.ts';
import { StartFailure } from '../../platform/failure.ts';
import { restrictMode, writePrivateFile } from '../../platform/files/private-file.ts';
import type { Config } from '../config/index.ts';
import { buildProblem } from '../config/problem-text.ts';

/** What says where the key is: the configuration, or else the state folder. */
type KeyPlace = Pick<Config, 'state_dir' | 'origin'> & {
  readonly detection: Pick<Config['detection'], 'fingerprint_key'>;
};

const KEY = /^[A-Za-z0-9_-]{43}$/;

/** Where the key lies that the service makes itself. */
export function fingerprintKeyPath(state_dir: string): string {
  return join(state_dir, 'fingerprint-key');
}

/**
 * What a policy needs to know values by their fingerprints; `null` for one that has no such list. The file of the
 * key is made private again where a copy has widened it.
 *
 * @throws StartFailure `config_invalid` where the list is there and the key is not: nothing on it could be known
 */
export function openFingerprints(config: KeyPlace, policy: Policy): Fingerprinter | null {
  const problem = fingerprintProblem(config, policy);
  if (problem !== null) throw new StartFailure('config_invalid', problem.message, [problem]);
  if (policy.detection.allowlist.length === 0) return null;
  return fingerprintsWith(readKey(config) as string);
}

/** What keeps a policy's list of fingerprints from being used; `null` where nothing does. */
export function fingerprintProblem(config: KeyPlace, { detection }: Policy): DocumentProblem | null {
  if (detection.allowlist.length === 0 || readKey(config) !== null) return null;
  const what =
    'needs the key of its fingerprints: the file `fingerprint-key` in the state folder is missing, ' +
    'cannot be read or holds another key. Restore it, set `detection.fingerprint_key`, or create the entries again ' +
    'with `service fingerprint add`';
  return buildProblem(config.origin.label, ['detection', 'allowlist'], what);
}

/** Makes fingerprints with the key of the configuration or of the state folder, which is made (mode 0600) if need be. */
export function ensureFingerprints(config: KeyPlace): Fingerprinter {
  const present = readKey(config);
  if (present !== null) return fingerprintsWith(present);
  writePrivateFile(fingerprintKeyPath(config.state_dir), randomBytes(32).toString('base64url'), 'keep');
  const made = readKey(config);
  if (made !== null) return fingerprintsWith(made);
  const path = fingerprintKeyPath(config.state_dir);
  throw new StartFailure(
    'state_unusable',
    `The file \`${path}\` is no key of fingerprints, or this user may not read it. Move it away, or restore it.`,
  );
}

/**
 * `hmac-sha256:` and hex over the detector and the exact text, in UTF-16 so that no two texts are the same. Without
 * the key nobody can try values until one fits, however few there are.
 */
function fingerprintsWith(key: string): Fingerprinter {
  const secret: KeyObject = createSecretKey(key, 'utf8');
  return (rule_id, value) => {
    const mac = createHmac('sha256', secret);
    mac.update(`agent-safety fingerprint 1\n${rule_id}\n`, 'utf16le').update(value, 'utf16le');
    return `hmac-sha256:${mac.digest('hex')}`;
  };
}

function readKey({ state_dir, detection }: KeyPlace): string | null {
  if (detection.fingerprint_key !== undefined) return detection.fingerprint_key;
  const path = fingerprintKeyPath(state_dir);
  try {
    const key = readFileSync(path, 'utf8').trim();
    restrictMode(path);
    return KEY.test(key) ? key : null;
  } catch {
    return null;
  }
}
