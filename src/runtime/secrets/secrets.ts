import { type SecretBackend, SecretFailure, type SecretFailureCode } from '../../drivers/secrets/backend.ts';

/** Why a secret could not be read: a code for programs, and a sentence that names key and backend and no value. */
export class SecretReadError extends Error {
  readonly code: SecretFailureCode;
  constructor(code: SecretFailureCode, message: string) {
    super(message);
    this.name = 'SecretUnread';
    this.code = code;
  }
}

/** Secrets of one backend, as the rest of the service sees them. */
export interface Secrets {
  /** The backend's name: `env`, `vault`, `cloud`. */
  readonly backend: string;
  /**
   * The value of a key, `null` where there is none; as old as the cache lets it be.
   * @throws SecretUnread
   */
  readonly get: (key: string) => Promise<string | null>;
  /**
   * Asks the backend itself whether it can be reached and takes the credentials.
   * @throws SecretUnread
   */
  readonly check: () => Promise<void>;
  /** Forgets all values. */
  readonly close: () => void;
}

export interface SecretsParts {
  readonly name: string;
  readonly backend: SecretBackend;
  /** For one question to the backend. */
  readonly timeout_ms: number;
  /** How old a value may be; 0 asks each time. */
  readonly cache_ttl_ms: number;
  /** How many values are held. */
  readonly cache_entries_max: number;
  /** A clock that never jumps; its zero does not matter. */
  readonly now_ms: () => number;
}

/** That there is no such secret is remembered for this long at most: someone may be about to make it. */
const ABSENT_MS = 5_000;
/** Questions to a backend at one time. */
const QUESTIONS_MAX = 256;

interface Entry {
  readonly value: string | null;
  readonly until_ms: number;
}

/**
 * Reads secrets through a cache in memory. Many who ask for one key at once are one question; a value that is
 * too old is never given, also where the backend cannot say a new one.
 */
export function openSecrets(parts: SecretsParts): Secrets {
  const { name, backend, cache_ttl_ms, cache_entries_max, now_ms } = parts;
  const entries = new Map<string, Entry>();
  const asked = new Map<string, Promise<string | null>>();

  function known(key: string): Entry | null {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    entries.delete(key);
    if (now_ms() >= entry.until_ms) return null;
    // The last one used is the last to go.
    entries.set(key, entry);
    return entry;
  }

  function keep(key: string, value: string | null, began_ms: number): void {
    const ttl_ms = value === null ? Math.min(ABSENT_MS, cache_ttl_ms) : cache_ttl_ms;
    if (ttl_ms <= 0 || cache_entries_max <= 0) return;
    entries.delete(key);
    for (const oldest of entries.keys()) {
      if (entries.size < cache_entries_max) break;
      entries.delete(oldest);
    }
    // Its age counts from the question: the value may have changed since.
    entries.set(key, { value, until_ms: began_ms + ttl_ms });
  }

  async function ask(key: string): Promise<string | null> {
    if (asked.size >= QUESTIONS_MAX)
      throw new SecretReadError('secrets_unavailable', `${about(key)}: too many are being read; try again.`);
    const began_ms = now_ms();
    const value = await inTime(parts, about(key), (signal) => backend.get(key, signal));
    keep(key, value, began_ms);
    return value;
  }

  const about = (key: string) => `The secret \`${key}\` could not be read`;
  return {
    backend: name,
    get: (key) => {
      const entry = known(key);
      if (entry !== null) return Promise.resolve(entry.value);
      const before = asked.get(key);
      if (before !== undefined) return before;
      const question = ask(key).finally(() => asked.delete(key));
      asked.set(key, question);
      return question;
    },
    check: () => inTime(parts, 'Secrets cannot be read', backend.check),
    close: () => {
      entries.clear();
      backend.close();
    },
  };
}

async function inTime<Answer>(
  { name, timeout_ms }: SecretsParts,
  about: string,
  question: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await question(AbortSignal.timeout(timeout_ms));
  } catch (error) {
    // What is no failure of ours may repeat what was read, so that none of it is told.
    const { code, message } =
      error instanceof SecretFailure ? error : new SecretFailure('secrets_unavailable', 'failed');
    throw new SecretReadError(code, `${about}: the backend \`${name}\` ${message}.`);
  }
}
