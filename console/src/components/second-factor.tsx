import { useState } from 'react';
import { ApiError, callOperation } from '../api/client.ts';
import { CodeField } from '../app/code-field.tsx';

interface SecondFactor {
  /** The service refused the call until a second factor is proved. */
  readonly is_needed: boolean;
  readonly code: string;
  readonly setCode: (code: string) => void;
  readonly error: unknown;
  /** Proves the code if one is needed. Returns false if that failed, and `error` says why. */
  readonly prove: () => Promise<boolean>;
}

/** Proves a second factor before a call is sent again, if the service asked for one. */
export function useSecondFactor(call_error: unknown): SecondFactor {
  const is_needed = call_error instanceof ApiError && call_error.code.includes('second_factor');
  const [code, setCode] = useState('');
  const [error, setError] = useState<unknown>(null);
  async function prove() {
    if (!is_needed) return true;
    try {
      await callOperation('sessionTotpProve', { code });
      setError(null);
      return true;
    } catch (caught) {
      setError(caught);
      return false;
    } finally {
      setCode('');
    }
  }
  return { is_needed, code, setCode, error, prove };
}

/** The field for the code of the authenticator app; absent until the service asks for one. */
export function SecondFactorField({ factor }: { readonly factor: SecondFactor }) {
  if (!factor.is_needed) return null;
  return <CodeField value={factor.code} onChange={factor.setCode} />;
}
