import type { OperationInput } from './client.ts';
import { ApiError, callOperation } from './client.ts';

type PasskeyResponse = OperationInput<'passkeyAdd'>['response'];

/** Asks the browser for one of the user's own passkeys. Rejects if the user cancels. */
export async function requestPasskey(input: OperationInput<'passkeyOptions'>): Promise<PasskeyResponse> {
  const options = await callOperation('passkeyOptions', input);
  return await authenticatePasskey(options);
}

/** Asks the browser for a passkey to sign in with: of the user of the ticket, or of any user. */
export async function requestSignInPasskey(ticket: string | null): Promise<PasskeyResponse> {
  const options = await callOperation('passkeySignInOptions', ticket === null ? {} : { ticket });
  return await authenticatePasskey(options);
}

/** Asks the browser to make a passkey. Rejects if the user cancels. */
export async function createPasskey(): Promise<PasskeyResponse> {
  const options = await callOperation('passkeyOptions', {});
  const { startRegistration } = await import('@simplewebauthn/browser');
  return (await startRegistration({ optionsJSON: options as never }).catch(
    throwNoPasskey,
  )) as PasskeyResponse;
}

async function authenticatePasskey(options: object): Promise<PasskeyResponse> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  return (await startAuthentication({ optionsJSON: options as never }).catch(
    throwNoPasskey,
  )) as PasskeyResponse;
}

function throwNoPasskey(): never {
  const body = { error: 'The browser gave no passkey. Try again, or use another way.', code: 'no_passkey' };
  throw new ApiError(0, body, null);
}
