import { Link } from '@tanstack/react-router';
import type { OperationOutput } from '../../api/client.ts';
import { SafeText } from '../../components/safe-text.tsx';

export type AlertEntry = OperationOutput<'alertsHistory'>['alerts'][number];

/** Shows the values by which a rule splits what it counts: `agent support-bot`. */
export function GroupValues({ group }: { readonly group: Readonly<Record<string, string | undefined>> }) {
  const entries = Object.entries(group);
  if (entries.length === 0) return <span className="muted">all together</span>;
  return (
    <span>
      {entries.map(([field, value], at) => (
        <span key={field}>
          {at === 0 ? '' : ', '}
          <span className="muted">{field}</span> <GroupValue field={field} value={value ?? ''} />
        </span>
      ))}
    </span>
  );
}

function GroupValue({ field, value }: { readonly field: string; readonly value: string }) {
  if (field !== 'request') return <SafeText text={value} />;
  return (
    <Link to="/approvals/$request_id" params={{ request_id: value }} search={{}}>
      <SafeText text={value} />
    </Link>
  );
}

/** Returns the values of a group as text, for sorting and export. */
export function formatGroup(group: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(group)
    .map(([field, value]) => `${field} ${value ?? ''}`)
    .join(', ');
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly is_required?: boolean;
  readonly is_read_only?: boolean;
  readonly pattern?: string;
  readonly max?: number;
  readonly type?: 'text' | 'number' | 'time';
}

export function TextField(props: TextFieldProps) {
  const { label, value, onChange, is_required = false, is_read_only = false, type = 'text' } = props;
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="input"
        type={type}
        required={is_required}
        readOnly={is_read_only}
        spellCheck={false}
        maxLength={props.max ?? 1_000}
        {...(type === 'number' && { min: 1, max: 10_000 })}
        {...(props.pattern !== undefined && { pattern: props.pattern })}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Values and what they are called. */
  readonly options: readonly (readonly [value: string, text: string])[];
}

export function SelectField({ label, value, onChange, options }: SelectFieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <select className="select" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ChoicesProps {
  readonly label: string;
  readonly options: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Checkboxes, any number of which may be set. */
export function Choices({ label, options, chosen, onChange }: ChoicesProps) {
  return (
    <fieldset className="choices">
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option}>
          <input
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={() =>
              onChange(
                chosen.includes(option) ? chosen.filter((each) => each !== option) : [...chosen, option],
              )
            }
          />
          <SafeText text={option} />
        </label>
      ))}
    </fieldset>
  );
}
