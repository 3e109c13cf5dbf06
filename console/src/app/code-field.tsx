import { TextField } from '../components/text-field.tsx';

interface CodeFieldProps {
  readonly value: string;
  readonly onChange: (code: string) => void;
}

/** The field for the six digits of an authenticator app. Spaces between them are dropped. */
export function CodeField({ value, onChange }: CodeFieldProps) {
  return (
    <TextField
      label="Code"
      inputMode="numeric"
      autoComplete="one-time-code"
      pattern="[0-9]{6}"
      title="The 6 digits that the app shows"
      required
      maxLength={9}
      value={value}
      onChange={(code) => onChange(code.replaceAll(/\s/g, ''))}
    />
  );
}
