import { Secret, TOTP } from 'otpauth';
import { PRODUCT_NAME } from '../../core/names.ts';

/** The name that authenticator apps show. */
/** SHA-1, 6 digits and 30 seconds: the defaults of RFC 6238, and the only values that all apps support. */
const ALGORITHM = 'SHA1';
const DIGITS = 6;
const PERIOD_SECONDS = 30;
/** 160 bits, as RFC 4226 recommends. */
const SECRET_BYTES = 20;
/** Steps that a clock may be off, in either direction. */
const WINDOW_STEPS = 1;

/** Creates a secret, and the URI that an app reads from a QR code. */
export function createTotpSecret(userId: string): { readonly secret: string; readonly uri: string } {
  const secret = new Secret({ size: SECRET_BYTES });
  return { secret: secret.base32, uri: buildTotp(secret.base32, userId).toString() };
}

/**
 * Returns the time step that a code belongs to; `null` if the code is wrong. A code counts once: the caller refuses
 * steps up to the last accepted one.
 */
export function findTotpStep(secret: string, code: string, nowMs: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const delta = buildTotp(secret, '').validate({ token: code, timestamp: nowMs, window: WINDOW_STEPS });
  return delta === null ? null : Math.floor(nowMs / 1_000 / PERIOD_SECONDS) + delta;
}

function buildTotp(secret: string, label: string): TOTP {
  return new TOTP({
    issuer: PRODUCT_NAME,
    label,
    algorithm: ALGORITHM,
    digits: DIGITS,
    period: PERIOD_SECONDS,
    secret,
  });
}
