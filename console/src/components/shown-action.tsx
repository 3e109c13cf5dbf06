import { SafeText } from './safe-text.tsx';

interface ShownActionProps {
  /** Tool and arguments, with secrets, personal data and injections masked. */
  readonly text: string;
  /** The dangerous parts: start and end in UTF-16 units. */
  readonly marks: readonly (readonly number[])[];
}

/** Shows a call as plain text, its dangerous parts marked. */
export function ShownAction({ text, marks }: ShownActionProps) {
  const parts = marks.flatMap(([start = 0, end = 0], at) => [
    { text: text.slice(marks[at - 1]?.[1] ?? 0, start), start: marks[at - 1]?.[1] ?? 0, is_marked: false },
    { text: text.slice(start, end), start, is_marked: true },
  ]);
  const rest = marks.at(-1)?.[1] ?? 0;
  parts.push({ text: text.slice(rest), start: rest, is_marked: false });
  return (
    <p className="scanned shown-action">
      {parts
        .filter((part) => part.text !== '')
        .map((part) =>
          part.is_marked ? (
            <mark key={part.start}>
              <SafeText text={part.text} />
            </mark>
          ) : (
            <SafeText key={part.start} text={part.text} />
          ),
        )}
    </p>
  );
}
