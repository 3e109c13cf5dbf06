import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { ApiError, callOperation, type OperationOutput } from '../api/client.ts';
import { requestSignInPasskey } from '../api/passkeys.ts';
import { sessionQuery } from '../api/session.ts';
import { useOperation } from '../api/use-operation.ts';
import { Button } from '../components/button.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { Command } from '../components/prose.tsx';
import { TextField } from '../components/text-field.tsx';
import { CodeField } from './code-field.tsx';
import { PasswordField } from './password-field.tsx';
import { SignInCard } from './sign-in-card.tsx';

const route = getRouteApi('/sign-in');

type SignInAnswer = OperationOutput<'sessionSignIn'>;

/** Signs a user in with a password and, if the account has one, a second factor. Then goes back to the page that was asked for. */
export function SignInPage() {
  const search = route.useSearch();
  const to = isLocalPath(search.to) ? search.to : '/';
  const router = useRouter();
  const client = useQueryClient();
  const [ticket, setTicket] = useState<{ readonly id: string; readonly factors: readonly string[] } | null>(
    null,
  );

  async function handleSignInAnswer(answer: SignInAnswer) {
    if (answer.status === 'second_factor') {
      setTicket({ id: answer.ticket ?? '', factors: answer.factors ?? [] });
      return;
    }
    await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
    router.history.push(`/dashboard${to === '/' ? '' : to}`);
  }

  return ticket === null ? (
    <PasswordForm to={to} failure={search.error} onAnswer={handleSignInAnswer} />
  ) : (
    <CodeForm
      ticket={ticket.id}
      factors={ticket.factors}
      onAnswer={handleSignInAnswer}
      onBack={() => setTicket(null)}
    />
  );
}

/** Returns true for a path of the console. An address of another site is none. */
function isLocalPath(value: unknown): value is string {
  return typeof value === 'string' && /^\/(?![/\\])/.test(value);
}

interface FormProps {
  readonly onAnswer: (answer: SignInAnswer) => Promise<void>;
}

/** What the address says after a failed sign-in at the OpenID provider. */
const FAILURES: Readonly<Record<string, string>> = {
  refused: 'The sign-in at the provider failed. Try again.',
  no_access: 'You signed in at the provider, but no role here is yours. Ask an administrator.',
  name_taken: 'Another user has your name here. Ask an administrator.',
  disabled: 'Your account is disabled. Ask an administrator.',
};

interface PasswordFormProps extends FormProps {
  /** The page to go to. */
  readonly to: string;
  readonly failure: string | undefined;
}

function PasswordForm({ to, failure, onAnswer }: PasswordFormProps) {
  const methods = useOperation('authMethods', {}).data;
  const [userId, setUser] = useState('');
  const [password, setPassword] = useState('');
  const { error, is_sending, send } = useSending();

  function signIn(event: FormEvent) {
    event.preventDefault();
    void send(async () => onAnswer(await callOperation('sessionSignIn', { user_id: userId, password }))).then(
      (failed) => {
        if (failed instanceof ApiError && failed.status === 401) setPassword('');
      },
    );
  }

  return (
    <SignInCard title="Sign in" onSubmit={signIn}>
      {failure === undefined || !Object.hasOwn(FAILURES, failure) ? null : (
        <p className="note bad" role="alert">
          {FAILURES[failure]}
        </p>
      )}
      <TextField
        label="User"
        autoComplete="username webauthn"
        autoCapitalize="none"
        required
        maxLength={128}
        value={userId}
        onChange={setUser}
      />
      <PasswordField label="Password" value={password} onChange={setPassword} />
      <ErrorNote error={error} />
      <Button type="submit" look="primary" disabled={is_sending}>
        {is_sending ? 'Signing in …' : 'Sign in'}
      </Button>
      <PasskeyButton ticket={null} is_sending={is_sending} send={send} onAnswer={onAnswer} />
      {methods?.oidc == null ? null : (
        <a
          className="button"
          href={`/v1/auth/oidc/start?${new URLSearchParams({ return_to: `/dashboard${to}` })}`}
        >
          {methods.oidc}
        </a>
      )}
      {methods?.needs_setup === true ? (
        <p className="hint">
          There is no administrator yet. Open the one-time link that the service printed in its terminal, or
          make one with <Command text='customshouse users add NAME --role admin --tenant "*"' />.
        </p>
      ) : null}
    </SignInCard>
  );
}

interface CodeFormProps extends FormProps {
  readonly ticket: string;
  /** The second factors of the account. */
  readonly factors: readonly string[];
  readonly onBack: () => void;
}

function CodeForm({ ticket, factors, onAnswer, onBack }: CodeFormProps) {
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
      {factors.includes('totp') ? (
        <>
          <p>Type the code that your authenticator app shows.</p>
          <CodeField value={code} onChange={setCode} />
        </>
      ) : null}
      <ErrorNote error={error} />
      {factors.includes('totp') ? (
        <Button type="submit" look="primary" disabled={is_sending}>
          {is_sending ? 'Signing in …' : 'Sign in'}
        </Button>
      ) : null}
      {factors.includes('passkey') ? (
        <PasskeyButton ticket={ticket} is_sending={is_sending} send={send} onAnswer={onAnswer} />
      ) : null}
      <Button look="quiet" onClick={onBack}>
        Use another account
      </Button>
    </SignInCard>
  );
}

interface PasskeyButtonProps extends FormProps {
  readonly ticket: string | null;
  readonly is_sending: boolean;
  readonly send: (task: () => Promise<void>) => Promise<unknown>;
}

function PasskeyButton({ ticket, is_sending, send, onAnswer }: PasskeyButtonProps) {
  if (typeof PublicKeyCredential === 'undefined') return null;
  const signIn = async () => {
    const response = await requestSignInPasskey(ticket);
    await onAnswer(await callOperation('passkeySignIn', { response }));
  };
  return (
    <Button disabled={is_sending} onClick={() => void send(signIn)}>
      Use a passkey
    </Button>
  );
}

/** Runs one request at a time and keeps its error. */
function useSending() {
  const [error, setError] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
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
  return { error, is_sending: isSending, send };
}
