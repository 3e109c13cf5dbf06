import { diffLines } from 'diff';

const TEXT_MAX = 200_000;
/** Above this number of changes the comparison ends, and all of one side is shown as removed and the other as added. */
const CHANGES_MAX = 5_000;

interface JsonDiffProps {
  readonly before: unknown;
  readonly after: unknown;
  readonly label: string;
}

/** Compares two values as formatted JSON, or two texts, line by line. */
export function JsonDiff({ before, after, label }: JsonDiffProps) {
  const lines = compareLines(formatValue(before), formatValue(after));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard.
    <section className="diff" aria-label={label} tabIndex={0}>
      {lines.map(({ kind, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity of their own and never move.
        <div key={index} className={`diff-line ${kind}`}>
          <span aria-hidden="true" className="diff-sign">
            {kind === 'added' ? '+' : kind === 'removed' ? '−' : ' '}
          </span>
          {kind === 'same' ? null : <span className="visually-hidden">{kind} </span>}
          <bdi>{text}</bdi>
        </div>
      ))}
    </section>
  );
}

function formatValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return `${text.slice(0, TEXT_MAX)}\n`;
}

function compareLines(before: string, after: string) {
  const parts = diffLines(before, after, { maxEditLength: CHANGES_MAX }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  return parts.flatMap(({ value, added, removed }) => {
    const kind = added ? 'added' : removed ? 'removed' : 'same';
    return value
      .replace(/\n$/, '')
      .split('\n')
      .filter((text) => kind !== 'same' || text !== '' || value !== '')
      .map((text) => ({ kind, text }) as const);
  });
}
