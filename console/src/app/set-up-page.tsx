import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { PASSWORD_CHARS_MIN } from '../../../src/runtime/access/password-limits.ts';
import { callOperation } from '../api/client.ts';
import { sessionQuery } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { Command } from '../components/prose.tsx';
import { TextField } from '../components/text-field.tsx';
import { PasswordField } from './password-field.tsx';
import { SignInCard } from './sign-in-card.tsx';

/** Sets a password with the one-time link that the terminal or an administrator gave, and signs the user in. */
export function SetUpPage() {
  // The token is behind `#`, so that no server and no `referer` ever sees it. It leaves the address at once.
  const [token] = useState(takeToken);
  const router = useRouter();
  const client = useQueryClient();
  const [userId, setUser] = useState('');
  const [password, setPassword] = useState('');
  const [repeated, setRepeated] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);

  async function setUp(event: FormEvent) {
    event.preventDefault();
    setSending(true);
    setError(null);
    try {
      await callOperation('sessionSetUp', { token, password, user_id: userId === '' ? null : userId });
      await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
      await router.navigate({ to: '/' });
    } catch (caught) {
      setError(caught);
      setSending(false);
    }
  }

  if (token === '')
    return (
      <SignInCard title="Set a password" onSubmit={(event) => event.preventDefault()}>
        <p>This page needs the whole one-time link, with the part after #.</p>
        <p className="hint">
          The first start of the service prints one in a terminal. An administrator makes another with{' '}
          <Command text="customshouse users reset NAME" />.
        </p>
      </SignInCard>
    );
  return (
    <SignInCard title="Set a password" onSubmit={(event) => void setUp(event)}>
      <TextField
        label="User name, only if you are the first administrator"
        autoComplete="username"
        autoCapitalize="none"
        maxLength={128}
        placeholder="admin"
        value={userId}
        onChange={setUser}
      />
      <NewPasswordFields
        password={password}
        repeated={repeated}
        onPassword={setPassword}
        onRepeated={setRepeated}
      />
      <ErrorNote error={error} />
      <Button type="submit" look="primary" disabled={isSending}>
        {isSending ? 'Setting …' : 'Set password and sign in'}
      </Button>
    </SignInCard>
  );
}

function takeToken(): string {
  const token = window.location.hash.slice(1);
  if (token !== '') window.history.replaceState(window.history.state, '', window.location.pathname);
  return token;
}

interface NewPasswordFieldsProps {
  readonly password: string;
  readonly repeated: string;
  readonly onPassword: (password: string) => void;
  readonly onRepeated: (password: string) => void;
}

/** Two fields for a new password. The form cannot be sent while they differ. */
export function NewPasswordFields(props: NewPasswordFieldsProps) {
  const { password, repeated } = props;
  return (
    <>
      <PasswordField
        label={`New password, at least ${PASSWORD_CHARS_MIN} characters`}
        is_new
        value={password}
        onChange={props.onPassword}
      />
      <PasswordField
        label="New password again"
        is_new
        value={repeated}
        problem={repeated === password ? '' : 'The two passwords differ.'}
        onChange={props.onRepeated}
      />
    </>
  );
}
