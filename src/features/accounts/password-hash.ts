import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { openSerialQueue } from '../../platform/queue/serial-queue.ts';
import { Unavailable } from '../../platform/unavailable.ts';

const derive = promisify(argon2);

/**
 * Argon2id with 19 MiB of memory, 2 passes and 1 lane: the first recommendation of the OWASP Password Storage Cheat
 * Sheet. It needs less memory than RFC 9106 proposes, because each worker may verify several passwords at once.
 */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** Hashes a password with a salt of its own. Returns a PHC string: `$argon2id$v=19$m=19456,t=2,p=1$salt$tag`. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const tag = await deriveTag(password, nonce, PARAMETERS);
  const { memory, passes, parallelism } = PARAMETERS;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encodeBytes(nonce)}$${encodeBytes(tag)}`;
}

/**
 * Returns whether the password has this hash. Takes as long without a hash (`null`), so that the time does not show
 * which accounts exist.
 */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const parsed = stored === null ? null : parseHash(stored);
  const { nonce, tag, parameters } = parsed ?? ABSENT;
  const derived = await deriveTag(password, nonce, parameters);
  return timingSafeEqual(derived, tag) && parsed !== null;
}

type Parameters = typeof PARAMETERS;

interface ParsedHash {
  readonly parameters: Parameters;
  readonly nonce: Buffer;
  readonly tag: Buffer;
}

const ABSENT: ParsedHash = {
  parameters: PARAMETERS,
  nonce: Buffer.alloc(SALT_BYTES),
  tag: Buffer.alloc(TAG_BYTES),
};

const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

function parseHash(stored: string): ParsedHash | null {
  const [, memory, passes, parallelism, nonce, tag] = PHC.exec(stored) ?? [];
  if (nonce === undefined || tag === undefined) return null;
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { parameters, nonce: Buffer.from(nonce, 'base64'), tag: Buffer.from(tag, 'base64') };
}

/** Passwords that wait at a time. More are refused, so that guessing does not fill the memory. */
const WAITING_MAX = 32;
let waiting = 0;
/** One at a time, because the threads that hash also write the journal. */
const enqueue = openSerialQueue();

/** Derives under Unicode NFKC, because keyboards write one letter in several ways. */
async function deriveTag(password: string, nonce: Buffer, parameters: Parameters): Promise<Buffer> {
  if (waiting >= WAITING_MAX)
    throw new Unavailable('Too many people sign in at the moment. Try again.', null);
  waiting += 1;
  const message = password.normalize('NFKC');
  const options = { message, nonce, tagLength: TAG_BYTES, ...parameters };
  return enqueue(() => derive('argon2id', options)).finally(() => {
    waiting -= 1;
  });
}

function encodeBytes(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
