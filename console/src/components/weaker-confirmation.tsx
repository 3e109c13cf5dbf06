import { type ReactNode, useState } from 'react';
import type { ApiError } from '../api/client.ts';

interface WeakerConfirmation {
  /** True after the service refused to save a less strict policy. A reason is needed then. */
  readonly is_asked: boolean;
  readonly field: ReactNode;
  /** The input that confirms the refused change. */
  readonly input: { readonly confirm_weaker?: true };
}

/** Asks for the consent to a less strict policy, once for each refusal. */
export function useWeakerConfirmation(error: ApiError | null): WeakerConfirmation {
  const [confirmed, setConfirmed] = useState<ApiError | null>(null);
  const isAsked = error?.code === 'weaker_policy';
  const isConfirmed = isAsked && confirmed === error;
  const field = isAsked ? (
    <label>
      <input
        type="checkbox"
        required
        checked={isConfirmed}
        onChange={() => setConfirmed(isConfirmed ? null : error)}
      />
      Save it although it is less strict
    </label>
  ) : null;
  return { is_asked: isAsked, field, input: isConfirmed ? { confirm_weaker: true } : {} };
}

interface WhyFieldProps {
  readonly value: string;
  readonly is_required: boolean;
  readonly onChange: (value: string) => void;
}

/** The reason of a new version, shown in the history. */
export function WhyField({ value, is_required, onChange }: WhyFieldProps) {
  return (
    <label className="field grow">
      <span>Why</span>
      <input
        className="input"
        maxLength={500}
        required={is_required}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
