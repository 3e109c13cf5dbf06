import { SafeText } from './safe-text.tsx';

const ROWS_MAX = 200;

interface MaskedArgumentsProps {
  /** JSON with everything masked that was found; if it was cut, its beginning. */
  readonly text: string;
  readonly is_cut: boolean;
  readonly bytes: number | undefined;
}

/** Shows the arguments of a call, one line for each value. Values with masked parts are marked. */
export function MaskedArguments({ text, is_cut, bytes }: MaskedArgumentsProps) {
  const rows = parseRows(text);
  return (
    <div>
      {rows === null ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard.
        <section className="diff" tabIndex={0} aria-label="Arguments">
          <SafeText text={text} has_lines />
        </section>
      ) : rows.length === 0 ? (
        <p className="muted">No arguments.</p>
      ) : (
        <dl className="arguments">
          {rows.slice(0, ROWS_MAX).map(([path, value]) => (
            <div key={path} className="argument">
              <dt>
                <SafeText text={path} />
              </dt>
              <dd className={value.includes('[REDACTED') ? 'changed' : undefined}>
                <SafeText text={value} has_lines />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {is_cut || (rows?.length ?? 0) > ROWS_MAX ? (
        <p className="hint">Not all arguments are shown{bytes === undefined ? '' : ` (${bytes} bytes)`}.</p>
      ) : null}
    </div>
  );
}

/** Returns the values of a JSON object with their paths; `null` if the text is no complete JSON object. */
function parseRows(text: string): (readonly [path: string, value: string])[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? flattenMembers(value, '') : null;
  } catch {
    return null;
  }
}

function flattenMembers(value: object, path: string): (readonly [string, string])[] {
  return Object.entries(value).flatMap(([key, member]: [string, unknown]) => {
    const own = path === '' ? key : `${path}.${key}`;
    if (typeof member === 'object' && member !== null && Object.keys(member).length > 0)
      return flattenMembers(member, own);
    return [[own, typeof member === 'string' ? member : JSON.stringify(member)] as const];
  });
}
