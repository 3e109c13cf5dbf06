import { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from '../../../src/runtime/access/password-limits.ts';
import { TextField } from '../components/text-field.tsx';

interface PasswordFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (password: string) => void;
  /** The password is being chosen, so its length is checked. */
  readonly is_new?: boolean;
  /** What is wrong with the value, as the browser shows it. */
  readonly problem?: string;
}

/** The field for a password. Password managers recognize whether it is the present or a new one. */
export function PasswordField({ label, value, onChange, is_new = false, problem = '' }: PasswordFieldProps) {
  return (
    <TextField
      label={label}
      type="password"
      autoComplete={is_new ? 'new-password' : 'current-password'}
      required
      {...(is_new && { minLength: PASSWORD_CHARS_MIN, maxLength: PASSWORD_CHARS_MAX })}
      value={value}
      ref={(input) => input?.setCustomValidity(problem)}
      onChange={onChange}
    />
  );
}
