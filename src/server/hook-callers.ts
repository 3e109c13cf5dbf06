import { Refusal } from '../operations/operation.ts';
import { buildHookCaller } from '../runtime/access/callers.ts';
import { openJwtVerifier } from '../runtime/access/jwt.ts';
import { looksLikeJwt } from '../runtime/access/jwt-form.ts';
import { getOsUserName } from '../runtime/access/os-user.ts';
import type { JwtSettings } from '../runtime/access/settings.ts';
import type { Caller } from '../runtime/access/types.ts';

/**
 * Finds the caller of a hook: the bearer of `SERVICE_USER_TOKEN`, else the operating system user. A token that does
 * not verify is never treated as none. Rejects with a `Refusal`.
 *
 * @param user - the user that the hook's environment names
 * @param token - the signed token, `null` for none
 */
export type FindHookCaller = (user: string, token: string | null) => Promise<Caller>;

/**
 * Opens the search for callers of hooks.
 * @param jwt - which tokens are accepted; `null` for none
 */
export function openHookCallers(jwt: JwtSettings | null, nowMs: () => number): FindHookCaller {
  const verify = jwt === null ? null : openJwtVerifier(jwt, nowMs);
  // Only this user can open the socket, and start a hook that decides by itself.
  const osUser = getOsUserName();
  return async (user, token) => {
    if (token === null) return buildHookCaller(user, osUser);
    if (verify === null) throw new Refusal('unauthenticated', NO_VERIFIER);
    const caller = looksLikeJwt(token) ? await verify(token).catch(refuseWithoutKeys) : null;
    if (caller === null) throw new Refusal('unauthenticated', INVALID);
    if (!caller.permissions.includes('check')) throw new Refusal('forbidden', NO_PERMISSION);
    return caller;
  };
}

const NO_VERIFIER =
  'The agent has a token in `SERVICE_USER_TOKEN`, and the configuration has no `auth.jwt` that says how to verify it. Add `auth.jwt`, or start the agent without the variable.';
const INVALID =
  'The token in `SERVICE_USER_TOKEN` is not valid here, or has expired. Start the agent again with a new one.';
const NO_PERMISSION = 'The token in `SERVICE_USER_TOKEN` lists permissions without `check`.';

function refuseWithoutKeys(): never {
  throw new Refusal(
    'unavailable',
    'The token in `SERVICE_USER_TOKEN` cannot be verified, because the keys of `auth.jwt` cannot be read at the moment.',
  );
}
