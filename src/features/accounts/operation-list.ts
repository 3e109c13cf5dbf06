/** The feature's operations. */
export { authMethods, authOidcCallback, authOidcStart } from './oidc-operations.ts';
export {
  sessionList,
  sessionPassword,
  sessionRevoke,
  sessionTotpConfirm,
  sessionTotpProve,
  sessionTotpRemove,
  sessionTotpStart,
} from './own-account-operations.ts';
export {
  passkeyAdd,
  passkeyList,
  passkeyOptions,
  passkeyProve,
  passkeyRemove,
  passkeySignIn,
  passkeySignInOptions,
} from './passkey-operations.ts';
export {
  sessionSecondFactor,
  sessionSetUp,
  sessionShow,
  sessionSignIn,
  sessionSignOut,
} from './sign-in-operations.ts';
export {
  usersAdd,
  usersDisable,
  usersEnable,
  usersList,
  usersReset,
  usersRole,
  usersSessions,
  usersSignOut,
  usersUnlock,
} from './user-operations.ts';
