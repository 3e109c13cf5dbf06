import { useNavigate, useSearch } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { Button } from './button.tsx';
import { SafeText } from './safe-text.tsx';

/** A member of the query in the address that narrows a page. */
export interface FilterField {
  readonly name: string;
  readonly label: string;
  /** The values to choose from; without them any text. */
  readonly options?: readonly string[];
}

/** Returns the query of the address as text, and a function that changes members of it; an empty text removes one. */
export function useAddressQuery(): readonly [
  Readonly<Record<string, string>>,
  (changes: Record<string, string>) => void,
] {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string>>;
  const navigate = useNavigate();
  function change(changes: Record<string, string>) {
    const next = Object.entries({ ...search, ...changes }).filter(([, value]) => value !== '');
    void navigate({ to: '.', search: Object.fromEntries(next), replace: true });
  }
  return [search, change];
}

/** Shows the filters of a page as chips. They are in the address, so that a link shows the same rows. */
export function FilterChips({ fields }: { readonly fields: readonly FilterField[] }) {
  const [query, change] = useAddressQuery();
  const active = fields.filter(({ name }) => query[name] !== undefined);
  const rest = fields.filter(({ name }) => query[name] === undefined);
  return (
    <fieldset className="chips" aria-label="Filters">
      {active.map((field) => (
        <span key={field.name} className="chip">
          <span className="chip-label">{field.label}</span>
          <SafeText text={query[field.name]} />
          <button
            type="button"
            aria-label={`Remove the filter ${field.label}`}
            onClick={() => change({ [field.name]: '' })}
          >
            ×
          </button>
        </span>
      ))}
      {rest.length === 0 ? null : (
        <NewChip fields={rest} onAdd={(name, value) => change({ [name]: value })} />
      )}
      {active.length < 2 ? null : (
        <Button
          look="quiet"
          is_small
          onClick={() => change(Object.fromEntries(active.map(({ name }) => [name, ''])))}
        >
          Clear all
        </Button>
      )}
    </fieldset>
  );
}

interface NewChipProps {
  readonly fields: readonly FilterField[];
  readonly onAdd: (name: string, value: string) => void;
}

function NewChip({ fields, onAdd }: NewChipProps) {
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const id = useId();
  const field = fields.find((each) => each.name === name);
  function add(text: string) {
    if (field === undefined || text.trim() === '') return;
    onAdd(field.name, text.trim());
    setName('');
    setValue('');
  }
  return (
    <span className="chip new">
      <select
        className="select small"
        aria-label="Add a filter"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      >
        <option value="">+ Filter</option>
        {fields.map((each) => (
          <option key={each.name} value={each.name}>
            {each.label}
          </option>
        ))}
      </select>
      {field === undefined ? null : field.options === undefined ? (
        <input
          id={id}
          className="input small"
          aria-label={field.label}
          maxLength={256}
          value={value}
          ref={(element) => element?.focus()}
          onChange={(event) => setValue(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') add(value);
            if (event.key === 'Escape') setName('');
          }}
          onBlur={() => add(value)}
        />
      ) : (
        <select
          className="select small"
          aria-label={field.label}
          value=""
          ref={(element) => element?.focus()}
          onChange={(event) => add(event.currentTarget.value)}
        >
          <option value="">choose …</option>
          {field.options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      )}
    </span>
  );
}
