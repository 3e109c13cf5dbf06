import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import { createLazyValue } from '../../platform/lazy.ts';
import { JWT_ALGORITHMS } from '../config/schema-auth.ts';
import { buildAgentCaller, DEFAULT_PERMISSIONS } from './callers.ts';
import type { JwtSettings } from './settings.ts';
import { getClaim, readTokenPrincipal } from './token-principal.ts';
import type { Caller } from './types.ts';

const ALGORITHMS: readonly string[] = JWT_ALGORITHMS;

const NAMES_MAX = 100;

/**
 * Verifies signed tokens: signature, algorithm, issuer, audience, and the required expiry. Returns the caller
 * from the claims, or `null` for any invalid token. Rejects if the keys cannot be read, so that an outage is
 * not reported as a wrong token.
 */
export function openJwtVerifier(
  settings: JwtSettings,
  nowMs: () => number,
): (token: string) => Promise<Caller | null> {
  const opened = createLazyValue(() => openVerifier(settings));
  return async (token) => {
    const verify = await opened.open();
    const claims = await verify(token, new Date(nowMs()));
    return claims === null ? null : getCaller(claims, settings);
  };
}

type Verify = (token: string, currentDate: Date) => Promise<JWTPayload | null>;

/** The library is imported with the first token, not at startup. */
async function openVerifier(settings: JwtSettings): Promise<Verify> {
  const jose = await import('jose');
  const keys = await getKeys(settings, jose);
  const algorithms = (settings.algorithms ?? ALGORITHMS).filter((name) => ALGORITHMS.includes(name));
  const options: JWTVerifyOptions = {
    issuer: settings.issuer,
    audience: [settings.audience].flat() as string[],
    algorithms,
    clockTolerance: getTolerance(settings),
    requiredClaims: ['exp'],
  };
  return async (token, currentDate) => {
    let outage: { readonly error: unknown } | null = null;
    // Only errors of the key source are outages. Any other error, such as an algorithm that does not fit the
    // key, is the token's fault.
    const keyFor: JWTVerifyGetKey = async (header, jws) => {
      try {
        return await keys(header, jws);
      } catch (error) {
        if (isOutage(error, jose)) outage = { error };
        throw error;
      }
    };
    try {
      return (await jose.jwtVerify(token, keyFor, { ...options, currentDate })).payload;
    } catch {
      if (outage !== null) throw (outage as { error: unknown }).error;
      return null;
    }
  };
}

/** Returns the time in seconds for which an expired token is still accepted. */
function getTolerance({ clock_tolerance_seconds = 30 }: JwtSettings): number {
  return clock_tolerance_seconds;
}

async function getKeys(settings: JwtSettings, jose: typeof import('jose')): Promise<JWTVerifyGetKey> {
  if (settings.jwks_url !== undefined) {
    return jose.createRemoteJWKSet(new URL(settings.jwks_url), {
      timeoutDuration: 5_000,
      cooldownDuration: 30_000,
    });
  }
  if (settings.jwks_file !== undefined) {
    return jose.createLocalJWKSet(JSON.parse(await readFile(settings.jwks_file, 'utf8')));
  }
  const key = createPublicKey(await readFile(settings.public_key_file ?? '', 'utf8'));
  return async () => key;
}

/** Returns whether the key lookup failed because the keys could not be read, not because none matches. */
function isOutage(error: unknown, jose: typeof import('jose')): boolean {
  if (!(error instanceof jose.errors.JOSEError)) return true;
  return error instanceof jose.errors.JWKSTimeout || error.code === 'ERR_JOSE_GENERIC';
}

/** A token without a subject has no name for the audit log. */
function getCaller(claims: JWTPayload, settings: JwtSettings): Caller | null {
  const names = settings.claims ?? {};
  const subject = claims.sub;
  if (typeof subject !== 'string' || !/^[^\p{Cc}\p{Cs}]{1,200}$/u.test(subject)) return null;
  const tenants = parseNameList(getClaim(claims, names.tenants ?? 'tenant_id'));
  const agents = parseNameList(getClaim(claims, names.agents ?? 'agent_id'));
  const granted = getClaim(claims, names.permissions ?? 'permissions');
  const permissions = parseNameList(typeof granted === 'string' ? granted.split(' ') : granted);
  const principal = readTokenPrincipal(claims, settings);
  if (tenants === null || agents === null || permissions === null || principal === null) return null;
  const { user, chain, agent_tier } = principal;
  const caller = buildAgentCaller(
    `jwt:${subject}`,
    permissions === 'absent' ? DEFAULT_PERMISSIONS : permissions,
    tenants === 'absent' ? '*' : tenants,
    agents === 'absent' ? '*' : agents,
  );
  // The verification requires an expiry.
  const expiresMs = (claims.exp! + getTolerance(settings)) * 1_000;
  return {
    ...caller,
    ...(user !== null && { user }),
    ...(chain !== null && { chain }),
    ...(agent_tier !== null && { agent_tier }),
    expires_ms: expiresMs,
  };
}

/** `null`: the claim exists but cannot be read, which must not widen the scope of the bearer. */
function parseNameList(claim: unknown): readonly string[] | 'absent' | null {
  if (claim === undefined) return 'absent';
  if (typeof claim === 'string') return [claim];
  if (!Array.isArray(claim) || claim.length > NAMES_MAX) return null;
  return claim.every((name) => typeof name === 'string') ? claim : null;
}
