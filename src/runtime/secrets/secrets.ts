import { type SecretBackend, SecretFailure, type SecretFailureCode } from '../../drivers/secrets/backend.ts';

/**
 * The reason why a secret could not be read: a code for programs, and a message that names the key and the
 * backend but no value.
 */
export class SecretReadError extends Error {
  readonly code: SecretFailureCode;
  constructor(code: SecretFailureCode, message: string) {
    super(message);
    this.name = 'SecretReadError';
    this.code = code;
  }
}

/** The secrets of one backend, for the rest of the service. */
export interface Secrets {
  /** The backend's name: `env`, `vault`, `cloud`. */
  readonly backend: string;
  /**
   * Returns the value of a key, or `null` if there is none. It can come from the cache.
   * @throws SecretReadError
   */
  readonly get: (key: string) => Promise<string | null>;
  /** Checks that the backend is reachable and accepts the credentials. @throws SecretReadError */
  readonly check: () => Promise<void>;
  /** Clears the cache. */
  readonly close: () => void;
}

export interface SecretsParts {
  readonly name: string;
  readonly backend: SecretBackend;
  /** The time limit of one request to the backend. */
  readonly timeout_ms: number;
  /** The longest age of a cached value; 0 disables the cache. */
  readonly cache_ttl_ms: number;
  /** The number of cached values. */
  readonly cache_entries_max: number;
  /** A monotonic clock. Its origin does not matter. */
  readonly now_ms: () => number;
}

/** The longest time for which a missing secret is cached, because an operator may be about to create it. */
const ABSENT_MS = 5_000;
/** The limit of concurrent requests to a backend. */
const QUESTIONS_MAX = 256;

interface Entry {
  readonly value: string | null;
  readonly until_ms: number;
}

/**
 * Reads secrets through a cache in memory. Concurrent reads of one key share one request. An expired value is
 * never returned, even if the backend fails.
 */
export function openSecrets(parts: SecretsParts): Secrets {
  const { name, backend, cache_ttl_ms, cache_entries_max, now_ms } = parts;
  const entries = new Map<string, Entry>();
  const request = new Map<string, Promise<string | null>>();

  function findEntry(key: string): Entry | null {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    entries.delete(key);
    if (now_ms() >= entry.until_ms) return null;
    // The least recently used entry is evicted first.
    entries.set(key, entry);
    return entry;
  }

  function keep(key: string, value: string | null, beganMs: number): void {
    const ttlMs = value === null ? Math.min(ABSENT_MS, cache_ttl_ms) : cache_ttl_ms;
    if (ttlMs <= 0 || cache_entries_max <= 0) return;
    entries.delete(key);
    for (const oldest of entries.keys()) {
      if (entries.size < cache_entries_max) break;
      entries.delete(oldest);
    }
    // The age counts from the request, because the value may have changed since.
    entries.set(key, { value, until_ms: beganMs + ttlMs });
  }

  async function fetchSecret(key: string): Promise<string | null> {
    if (request.size >= QUESTIONS_MAX)
      throw new SecretReadError('secrets_unavailable', `${about(key)}: too many are being read; try again.`);
    const beganMs = now_ms();
    const value = await limitTime(parts, about(key), (signal) => backend.get(key, signal));
    keep(key, value, beganMs);
    return value;
  }

  const about = (key: string) => `The secret \`${key}\` could not be read`;
  return {
    backend: name,
    get: (key) => {
      const entry = findEntry(key);
      if (entry !== null) return Promise.resolve(entry.value);
      const before = request.get(key);
      if (before !== undefined) return before;
      const question = fetchSecret(key).finally(() => request.delete(key));
      request.set(key, question);
      return question;
    },
    check: () => limitTime(parts, 'Secrets cannot be read', backend.check),
    close: () => {
      entries.clear();
      backend.close();
    },
  };
}

async function limitTime<Answer>(
  { name, timeout_ms }: SecretsParts,
  about: string,
  question: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await question(AbortSignal.timeout(timeout_ms));
  } catch (error) {
    // A foreign error may contain the secret, so its message is dropped.
    const { code, message } =
      error instanceof SecretFailure ? error : new SecretFailure('secrets_unavailable', 'failed');
    throw new SecretReadError(code, `${about}: the backend \`${name}\` ${message}.`);
  }
}
