import type { ComponentProps } from 'react';

interface TextFieldProps extends Omit<ComponentProps<'input'>, 'className' | 'onChange'> {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A labelled one-line text field. Takes all input attributes. */
export function TextField({ label, onChange, ...rest }: TextFieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="input"
        spellCheck={false}
        maxLength={1_000}
        {...rest}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}

/** Splits a list that is typed with commas. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
