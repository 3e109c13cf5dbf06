import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, callOperation } from '../api/client.ts';
import { requestPasskey } from '../api/passkeys.ts';
import { sessionQuery, useSession } from '../api/session.ts';
import { CodeField } from '../app/code-field.tsx';

interface SecondFactor {
  /** The service refused the call until a second factor is proved. */
  readonly is_needed: boolean;
  readonly code: string;
  readonly setCode: (code: string) => void;
  readonly error: unknown;
  /** Proves the second factor if one is needed. Returns false if that failed, and `error` says why. */
  readonly prove: () => Promise<boolean>;
}

/** Proves a second factor before a call is sent again, if the service asked for one. */
export function useSecondFactor(callError: unknown): SecondFactor {
  const isNeeded = callError instanceof ApiError && callError.second_factor_required;
  const client = useQueryClient();
  const { second_factor } = useSession();
  const [code, setCode] = useState('');
  const [error, setError] = useState<unknown>(null);
  async function prove() {
    if (!isNeeded) return true;
    try {
      if (second_factor.totp) await callOperation('sessionTotpProve', { code });
      else await callOperation('passkeyProve', { response: await requestPasskey({ verify: true }) });
      // A proof changes the rights of the session, and with them its token.
      await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
      setError(null);
      return true;
    } catch (caught) {
      setError(caught);
      return false;
    } finally {
      setCode('');
    }
  }
  return { is_needed: isNeeded, code, setCode, error, prove };
}

/** The field for the code of the authenticator app; absent until the service asks for one. */
export function SecondFactorField({ factor }: { readonly factor: SecondFactor }) {
  const { second_factor } = useSession();
  if (!factor.is_needed) return null;
  if (second_factor.totp) return <CodeField value={factor.code} onChange={factor.setCode} />;
  return second_factor.passkeys > 0 ? (
    <p>This needs your passkey: the browser asks for it when you continue.</p>
  ) : (
    <p className="note watch">This needs a second factor. Set one up under “Your account” first.</p>
  );
}
