/** The stable error codes of a secret backend. A missing secret is not an error. */
export type SecretFailureCode =
  /** The backend cannot be reached, or cannot answer now. */
  | 'secrets_unavailable'
  | 'secrets_timeout'
  /** The backend rejects the credentials, or they do not permit reading the secret. */
  | 'secrets_denied'
  /** The backend returned an invalid response. */
  | 'secrets_answer'
  /** The driver package is not installed, or a required setting is missing. */
  | 'secrets_setup';

/**
 * An expected failure of a secret backend: a code for programs, and a predicate that follows the backend's name, "the
 * backend `vault` ...". It contains no value and nothing from the backend's response.
 */
export class SecretFailure extends Error {
  readonly code: SecretFailureCode;
  constructor(code: SecretFailureCode, message: string) {
    super(message);
    this.name = 'SecretFailure';
    this.code = code;
  }
}

/** An external store of secrets. Every call ends when `signal` is aborted. */
export interface SecretBackend {
  /**
   * Returns the value of a key, or `null` if there is none.
   *
   * @throws SecretFailure
   */
  readonly get: (key: string, signal: AbortSignal) => Promise<string | null>;
  /**
   * Resolves if the backend is reachable and accepts the credentials.
   *
   * @throws SecretFailure
   */
  readonly check: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

/** The parts of the process that a driver uses. */
export interface DriverEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opens the driver of a plug-in. Rejects with a `SecretFailure` if it must not run. */
  readonly openPlugin: (wanted: PluginDriver) => Promise<SecretBackend>;
}

/** The driver of a plug-in: the plug-in as the configuration lists it, and the driver's name and settings. */
export interface PluginDriver {
  readonly from: string;
  readonly driver: string;
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * One kind of secret backend. The enum, the schema, the requirements and the documentation of the configuration are
 * derived from the list of these records.
 */
export interface SecretDriver<Section = never> {
  /** The value of `secrets.backend`. */
  readonly name: string;
  /** The row of the documentation: the product, and the names of its secrets. */
  readonly docs: { readonly reads: string; readonly names: string };
  /** The key of its settings below `secrets`. */
  readonly section: string;
  /**
   * The configuration schema of the section: with a `default`, or `Type.Optional`. A section without a default is required
   * with this backend.
   */
  readonly schema: object;
  /** The key of the address in the section over which the token and the secrets are sent. */
  readonly address_key?: string;
  /** @throws SecretFailure if something that it needs is missing */
  readonly open: (section: Section, environment: DriverEnvironment) => SecretBackend | Promise<SecretBackend>;
}

/** The maximum length of a value, in UTF-16 units. A longer value is not a credential. */
export const VALUE_CHARACTERS_MAX = 262_144;

/** The form of a key, as a regular expression. */
export const KEY_PATTERN =
  '^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*(?:#[A-Za-z0-9_][A-Za-z0-9_.-]*)?$';
const KEY = new RegExp(KEY_PATTERN);
/** The maximum length of a key, in UTF-16 units. */
export const KEY_CHARACTERS_MAX = 256;

/**
 * Returns whether a text is a valid secret name: letters, digits, `_`, `.` and `-` in parts joined by `/`, and an
 * optional field after one `#`. No part begins with a dot, so that no name can leave its folder.
 */
export function isSecretKey(text: string): boolean {
  return text.length <= KEY_CHARACTERS_MAX && KEY.test(text);
}

/** Returns a member of a JSON object as text: strings unchanged, other values as JSON; `null` if it is absent. */
export function readSecretMember(members: unknown, name: string): string | null {
  if (typeof members !== 'object' || members === null || !Object.hasOwn(members, name)) return null;
  const value = (members as Record<string, unknown>)[name];
  if (value === null || value === undefined) return null;
  return limitValue(typeof value === 'string' ? value : JSON.stringify(value));
}

/**
 * Returns the value unchanged.
 *
 * @throws SecretFailure if the value is too long for a secret
 */
export function limitValue(value: string): string {
  if (value.length <= VALUE_CHARACTERS_MAX) return value;
  throw new SecretFailure('secrets_answer', `holds more than ${VALUE_CHARACTERS_MAX} characters there`);
}
