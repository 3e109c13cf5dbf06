const NOTE_MAX = 1_000;

interface NoteFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly has_focus?: boolean;
}

/** The reason of a decision. The agent and the audit log get it; secrets and personal data in it are masked. */
export function NoteField({ value, onChange, has_focus = false }: NoteFieldProps) {
  return (
    <label className="field">
      <span>Note for the agent and the audit log</span>
      <textarea
        className="input"
        maxLength={NOTE_MAX}
        rows={3}
        value={value}
        // biome-ignore lint/a11y/noAutofocus: the dialog was opened to write this note.
        autoFocus={has_focus}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
