import type { ReactNode } from 'react';
import { SafeText } from './safe-text.tsx';

interface ChoiceFieldProps {
  readonly label: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A labelled field with a short list of values to choose from. */
export function ChoiceField({ label, choices, value, onChange }: ChoiceFieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <select className="select" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {choices.map(([choice, title]) => (
          <option key={choice} value={choice}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ChoicesProps<Option extends string> {
  readonly label: string;
  readonly options: readonly Option[];
  readonly chosen: readonly Option[];
  readonly onChange: (chosen: readonly Option[]) => void;
  /** Shows an option in another form than its text. */
  readonly render?: (option: Option) => ReactNode;
}

/** Checkboxes, any number of which may be set. */
export function Choices<Option extends string>(props: ChoicesProps<Option>) {
  const { label, options, chosen, onChange, render = (option) => <SafeText text={option} /> } = props;
  const toggle = (option: Option) =>
    onChange(chosen.includes(option) ? chosen.filter((each) => each !== option) : [...chosen, option]);
  return (
    <fieldset className="choices">
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option}>
          <input type="checkbox" checked={chosen.includes(option)} onChange={() => toggle(option)} />
          {render(option)}
        </label>
      ))}
    </fieldset>
  );
}
