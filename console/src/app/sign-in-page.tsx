import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { ApiError, request } from '../api/client.ts';
import { sessionQuery } from '../api/session.ts';
import { ErrorNote } from '../components/error-note.tsx';
import { ThemeSwitch, Wordmark } from './shell.tsx';

const route = getRouteApi('/sign-in');

/** Signs a user in with a password and, if the account has one, a second factor. Then goes back to the page that was asked for. */
export function SignInPage() {
  const { to = '/' } = route.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const [user_id, setUser] = useState('');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [is_sending, setSending] = useState(false);

  async function signIn(event: FormEvent) {
    event.preventDefault();
    setSending(true);
    setError(null);
    try {
      await request('/v1/session/sign-in', { method: 'POST', body: { user_id, password } });
      await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
      router.history.push(`/dashboard${to === '/' ? '' : to}`);
    } catch (caught) {
      setError(caught);
      if (caught instanceof ApiError && caught.status === 401) setPassword('');
    } finally {
      setSending(false);
    }
  }

  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={(event) => void signIn(event)}>
        <Wordmark />
        <h1>Sign in</h1>
        <label className="field">
          <span>User</span>
          <input
            className="input"
            autoComplete="username webauthn"
            autoCapitalize="none"
            spellCheck={false}
            required
            maxLength={256}
            value={user_id}
            onChange={(event) => setUser(event.currentTarget.value)}
          />
        </label>
        <label className="field">
          <span>Password</span>
          <input
            className="input"
            type="password"
            autoComplete="current-password"
            required
            maxLength={1024}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
        </label>
        {error === null ? null : <ErrorNote error={error} />}
        <button type="submit" className="button primary" disabled={is_sending}>
          {is_sending ? 'Signing in …' : 'Sign in'}
        </button>
        <ThemeSwitch />
      </form>
    </main>
  );
}
