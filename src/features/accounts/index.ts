import { createLazyValue } from '../../platform/lazy.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import { buildNamedUser } from '../../runtime/access/callers.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { findRolePermissions } from '../../runtime/access/users.ts';
import * as users from './manage-users.ts';
import { finishOidc, type OidcAnswer, startOidc } from './oidc-sign-in.ts';
import { MissingPackage, type OpenIdProvider, openOpenIdProvider } from './openid-provider.ts';
import * as own from './own-account.ts';
import * as passkeys from './passkeys.ts';
import { recordAccountEvent } from './record-account-event.ts';
import { deleteSession, findSession, listSessions } from './sessions.ts';
import * as sign_in from './sign-in.ts';
import type { Account, AccountParts, SignInOrigin, SignInSession } from './types.ts';
import { hasAdministrator } from './user-records.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** Loads and opens the users who sign in, on the first call. */
    readonly accounts: () => Promise<Accounts>;
  }
}

/** A user whose session cookie is valid. */
export interface SignedInUser {
  readonly caller: Caller;
  readonly account: Account;
  readonly session: SignInSession;
}

/** The users of one process, over the shared store. */
export type Accounts = ReturnType<typeof openAccounts>;

/** Opens the users, their sessions and their sign-in. */
export function openAccounts(parts: AccountParts) {
  const bind =
    <Rest extends readonly unknown[], Result>(work: (parts: AccountParts, ...rest: Rest) => Result) =>
    (...rest: Rest): Result =>
      work(parts, ...rest);
  const provider = openProviderOnDemand(parts);
  return {
    settings: parts.settings,
    startOidc: async (returnTo: string, origin: SignInOrigin & { readonly origin: string }) =>
      startOidc(parts, await provider(), returnTo, origin),
    finishOidc: async (answer: OidcAnswer, origin: SignInOrigin, binding: string | null) =>
      finishOidc(parts, await provider(), answer, origin, binding),
    /** Returns where a user of the provider signs out of it too; `null` if that is not possible. */
    oidcSignOutUrl: async (backTo: string) =>
      provider().then(
        ({ signOutUrl }) => signOutUrl(backTo),
        () => null,
      ),
    hasAdministrator: async () => hasAdministrator((await parts.store()).db),
    identify: bind(identifyUserOfSession),
    signOut: bind(signOut),
    listSessions: bind(listSessions),
    signInWithPassword: bind(sign_in.signInWithPassword),
    signInWithTotp: bind(sign_in.signInWithTotp),
    signInWithLink: bind(sign_in.signInWithLink),
    changePassword: bind(own.changePassword),
    proveTotp: bind(own.proveTotp),
    startTotp: bind(own.startTotp),
    confirmTotp: bind(own.confirmTotp),
    removeTotp: bind(own.removeTotp),
    startPasskeyRegistration: bind(passkeys.startPasskeyRegistration),
    addPasskey: bind(passkeys.addPasskey),
    listPasskeys: bind(passkeys.listPasskeys),
    removePasskey: bind(passkeys.removePasskey),
    startPasskeyUse: bind(passkeys.startPasskeyUse),
    signInWithPasskey: bind(passkeys.signInWithPasskey),
    provePasskey: bind(passkeys.provePasskey),
    addUser: bind(users.addUser),
    listUsers: bind(users.listAccounts),
    findUser: bind(users.findAccount),
    changeUser: bind(users.changeUser),
    setUserDisabled: bind(users.setUserDisabled),
    resetUser: bind(users.resetUser),
    unlockUser: bind(users.unlockUser),
    endUserSessions: bind(users.endUserSessions),
    createFirstLink: bind(users.createFirstLink),
  };
}

const UNREACHABLE = 'The OpenID provider cannot be reached at the moment.';

/** Opens the provider with the first sign-in there. Rejects with `Unavailable` if it cannot be reached. */
function openProviderOnDemand({ settings: { oidc } }: AccountParts): () => Promise<OpenIdProvider> {
  const opened = createLazyValue(async () => {
    if (oidc === null) throw new Error('no OpenID provider is configured');
    return openOpenIdProvider(oidc);
  });
  return () =>
    opened.open().catch((fault) => {
      const isMissing = fault instanceof MissingPackage;
      throw new Unavailable(isMissing ? fault.message : UNREACHABLE, fault);
    });
}

/** Finds the user of a session cookie; `null` if the session is not valid, or the user is disabled. */
async function identifyUserOfSession(
  parts: AccountParts,
  sessionToken: string,
): Promise<SignedInUser | null> {
  const session = await findSession(parts, sessionToken);
  if (session === null) return null;
  const account = await users.findAccount(parts, session.user_id);
  if (account === null || account.is_disabled) return null;
  const { roles, tenants, user_id } = account;
  const caller: Caller = {
    id: `user:${user_id}`,
    kind: 'person',
    permissions: findRolePermissions(roles, tenants),
    tenants,
    agents: '*',
    user: buildNamedUser(user_id),
    second_factor_ms: session.second_factor_ms,
  };
  return { caller, account, session };
}

async function signOut(parts: AccountParts, sessionToken: string, callerId: string): Promise<void> {
  const { db } = await parts.store();
  if (await deleteSession(db, sessionToken))
    await recordAccountEvent(parts.ports, {
      phase: 'sign_out',
      reason: 'A user signed out.',
      caller_id: callerId,
    });
}
