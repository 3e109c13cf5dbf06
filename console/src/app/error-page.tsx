import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { Button } from '../components/button.tsx';
import { ErrorNote } from '../components/error-note.tsx';

/** Shown instead of a page that failed. Forms keep what was typed in the session storage of the browser. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <div className="page-body narrow">
      <h1>This page failed</h1>
      <ErrorNote error={error} />
      <p>
        <Button
          onClick={() => {
            reset();
            void router.invalidate();
          }}
        >
          Try again
        </Button>
      </p>
    </div>
  );
}

export function NotFoundPage() {
  return (
    <main className="page-body narrow">
      <h1>No such page</h1>
      <p>
        The address names no page of the console. <Link to="/">Go to the overview.</Link>
      </p>
    </main>
  );
}

export function PendingPage() {
  return (
    <div className="page-body" role="status">
      <p className="muted">Loading …</p>
    </div>
  );
}
