import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

const ISSUER = 'https://id.test';
const AUDIENCE = 'agents';
const KEY_FILE = 'id.pem';
const EXPIRES_IN_SECONDS = 600;

/** An identity provider of a test, which signs tokens itself. */
export interface IdentityProvider {
  /** The section `auth.jwt`. */
  readonly jwt: { readonly issuer: string; readonly audience: string; readonly public_key_file: string };
  /** The file that the section names, next to the configuration. */
  readonly files: Readonly<Record<string, string>>;
  /** Signs a token of the person `alice`, unless the claims say otherwise. */
  readonly issue: (claims?: object, expiresInSeconds?: number) => string;
  /** Signs the same token with another key. */
  readonly forge: (claims?: object) => string;
}

export function createIdentityProvider(): IdentityProvider {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const stranger = generateKeyPairSync('ed25519').privateKey;
  return {
    jwt: { issuer: ISSUER, audience: AUDIENCE, public_key_file: KEY_FILE },
    files: { [KEY_FILE]: publicKey.export({ type: 'spki', format: 'pem' }) as string },
    issue: (claims = {}, expiresInSeconds = EXPIRES_IN_SECONDS) =>
      signToken(claims, privateKey, expiresInSeconds),
    forge: (claims = {}) => signToken(claims, stranger, EXPIRES_IN_SECONDS),
  };
}

function signToken(claims: object, key: KeyObject, expiresInSeconds: number): string {
  const exp = Math.floor(Date.now() / 1_000) + expiresInSeconds;
  const payload = { iss: ISSUER, aud: AUDIENCE, exp, sub: 'alice', ...claims };
  const text = [{ alg: 'EdDSA' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
}
