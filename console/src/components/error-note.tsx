import { ApiError } from '../api/client.ts';
import { Prose } from './prose.tsx';

/** Shows what went wrong, with the code and the request ID that the service log has. Shows nothing without an error. */
export function ErrorNote({ error }: { readonly error: unknown }) {
  if (error === null || error === undefined) return null;
  const isKnown = error instanceof ApiError;
  const message = isKnown ? error.message : 'The page met an error of its own (this is a bug).';
  return (
    <div className="note bad" role="alert">
      <p>
        <Prose text={message} />
      </p>
      {isKnown && error.details.length > 0 ? (
        <ul>
          {error.details.map(({ path, message: detail }) => (
            <li key={`${path} ${detail}`}>
              {path === '' ? null : <code>{path}</code>} <Prose text={detail} />
            </li>
          ))}
        </ul>
      ) : null}
      <p className="note-facts">
        {isKnown ? (
          <>
            <span>
              code <code>{error.code}</code>
            </span>
            {error.request_id === null ? null : (
              <span>
                request <code>{error.request_id}</code>
              </span>
            )}
          </>
        ) : (
          <code>{error instanceof Error ? error.message : 'unknown'}</code>
        )}
      </p>
    </div>
  );
}
