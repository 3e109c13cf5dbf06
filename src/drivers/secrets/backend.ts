/** The stable codes of what a secret backend can fail with. That there is no such secret is no failure. */
export type SecretFailureCode =
  /** It cannot be reached, or cannot answer now. */
  | 'secrets_unavailable'
  | 'secrets_timeout'
  /** It does not accept the credentials that it was asked with, or they may not read this. */
  | 'secrets_denied'
  /** It answered with something that cannot be used. */
  | 'secrets_answer'
  /** The package that speaks to it is not installed, or what it needs is not set. */
  | 'secrets_setup';

/**
 * An expected failure of a secret backend: a code for programs, and a predicate that goes on from the backend's
 * name, "the backend `vault` ...". It holds no value and nothing that the backend answered.
 */
export class SecretFailure extends Error {
  readonly code: SecretFailureCode;
  constructor(code: SecretFailureCode, message: string) {
    super(message);
    this.name = 'SecretFailure';
    this.code = code;
  }
}

/** An outside place that keeps secrets. Every call ends when `signal` says so. */
export interface SecretBackend {
  /**
   * The value of a key, or `null` where there is none.
   * @throws SecretFailure
   */
  readonly get: (key: string, signal: AbortSignal) => Promise<string | null>;
  /**
   * Resolves where the backend can be reached and takes the credentials.
   * @throws SecretFailure
   */
  readonly check: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

/** Characters (UTF-16 units) of a value; what is longer is no credential. */
export const VALUE_CHARACTERS_MAX = 262_144;

/** What a key looks like, as a regular expression. */
export const KEY_PATTERN =
  '^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*(?:#[A-Za-z0-9_][A-Za-z0-9_.-]*)?$';
const KEY = new RegExp(KEY_PATTERN);
/** Characters of a key. */
export const KEY_CHARACTERS_MAX = 256;

/**
 * Whether a text is the name of a secret: letters, digits, `_`, `.` and `-` in parts joined by `/`, and a field
 * after one `#`. No part begins with a dot, so that none leads out of its folder.
 */
export function isSecretKey(text: string): boolean {
  return text.length <= KEY_CHARACTERS_MAX && KEY.test(text);
}

/** A member of a JSON object as the text of a secret: texts as they stand, all else as JSON; `null` for none. */
export function readMember(members: unknown, name: string): string | null {
  if (typeof members !== 'object' || members === null || !Object.hasOwn(members, name)) return null;
  const value = (members as Record<string, unknown>)[name];
  if (value === null || value === undefined) return null;
  return limitValue(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The same text, where it is short enough for a secret. */
export function limitValue(value: string): string {
  if (value.length <= VALUE_CHARACTERS_MAX) return value;
  throw new SecretFailure('secrets_answer', `holds more than ${VALUE_CHARACTERS_MAX} characters there`);
}
