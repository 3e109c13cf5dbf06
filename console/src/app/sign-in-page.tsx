import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { ApiError, callOperation, type OperationOutput } from '../api/client.ts';
import { sessionQuery } from '../api/session.ts';
import { ErrorNote } from '../components/error-note.tsx';
import { CodeField } from './code-field.tsx';
import { SignInCard } from './sign-in-card.tsx';

const route = getRouteApi('/sign-in');

type SignInAnswer = OperationOutput<'sessionSignIn'>;

/** Signs a user in with a password and, if the account has one, a second factor. Then goes back to the page that was asked for. */
export function SignInPage() {
  const search = route.useSearch();
  const to = isLocalPath(search.to) ? search.to : '/';
  const router = useRouter();
  const client = useQueryClient();
  const [ticket, setTicket] = useState<string | null>(null);

  async function proceed(answer: SignInAnswer) {
    if (answer.status === 'second_factor') {
      setTicket(answer.ticket ?? null);
      return;
    }
    await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
    router.history.push(`/dashboard${to === '/' ? '' : to}`);
  }

  return ticket === null ? (
    <PasswordForm onAnswer={proceed} />
  ) : (
    <CodeForm ticket={ticket} onAnswer={proceed} onBack={() => setTicket(null)} />
  );
}

/** Returns true for a path of the console. An address of another site is none. */
function isLocalPath(value: unknown): value is string {
  return typeof value === 'string' && /^\/(?![/\\])/.test(value);
}

interface FormProps {
  readonly onAnswer: (answer: SignInAnswer) => Promise<void>;
}

function PasswordForm({ onAnswer }: FormProps) {
  const [user_id, setUser] = useState('');
  const [password, setPassword] = useState('');
  const { error, is_sending, send } = useSending();

  function signIn(event: FormEvent) {
    event.preventDefault();
    void send(async () => onAnswer(await callOperation('sessionSignIn', { user_id, password }))).then(
      (failed) => {
        if (failed instanceof ApiError && failed.status === 401) setPassword('');
      },
    );
  }

  return (
    <SignInCard title="Sign in" onSubmit={signIn}>
      <label className="field">
        <span>User</span>
        <input
          className="input"
          autoComplete="username webauthn"
          autoCapitalize="none"
          spellCheck={false}
          required
          maxLength={128}
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
    </SignInCard>
  );
}

interface CodeFormProps extends FormProps {
  readonly ticket: string;
  readonly onBack: () => void;
}

function CodeForm({ ticket, onAnswer, onBack }: CodeFormProps) {
  const [code, setCode] = useState('');
  const { error, is_sending, send } = useSending();

  function signIn(event: FormEvent) {
    event.preventDefault();
    void send(async () => onAnswer(await callOperation('sessionSecondFactor', { ticket, code }))).then(
      (failed) => {
        if (failed !== null) setCode('');
      },
    );
  }

  return (
    <SignInCard title="Second factor" onSubmit={signIn}>
      <p>Type the code that your authenticator app shows.</p>
      <CodeField value={code} onChange={setCode} />
      {error === null ? null : <ErrorNote error={error} />}
      <button type="submit" className="button primary" disabled={is_sending}>
        {is_sending ? 'Signing in …' : 'Sign in'}
      </button>
      <button type="button" className="button quiet" onClick={onBack}>
        Use another account
      </button>
    </SignInCard>
  );
}

/** Runs one request at a time and keeps its error. */
function useSending() {
  const [error, setError] = useState<unknown>(null);
  const [is_sending, setSending] = useState(false);
  async function send(task: () => Promise<void>): Promise<unknown> {
    setSending(true);
    setError(null);
    try {
      await task();
      return null;
    } catch (caught) {
      setError(caught);
      return caught;
    } finally {
      setSending(false);
    }
  }
  return { error, is_sending, send };
}
