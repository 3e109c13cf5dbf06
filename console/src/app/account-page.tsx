import { useMutation, useQueryClient } from '@tanstack/react-query';
import encodeQR from 'qr';
import { type FormEvent, useState } from 'react';
import { callOperation, type OperationOutput } from '../api/client.ts';
import { createPasskey } from '../api/passkeys.ts';
import { sessionQuery, useSession } from '../api/session.ts';
import { useOperation, useOperationCall } from '../api/use-operation.ts';
import { Button } from '../components/button.tsx';
import { CodeBlock } from '../components/code-block.tsx';
import type { DataColumn } from '../components/data-column.ts';
import { DataTable } from '../components/data-table.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { PageHeader, Panel } from '../components/page-header.tsx';
import { SafeText } from '../components/safe-text.tsx';
import { SecondFactorField, useSecondFactor } from '../components/second-factor.tsx';
import { Time } from '../components/time.tsx';
import { CodeField } from './code-field.tsx';
import { PasswordField } from './password-field.tsx';
import { NewPasswordFields } from './set-up-page.tsx';

/** The user's own account: what it may do, its password, its second factor and its sessions. */
export function AccountPage() {
  const session = useSession();
  return (
    <div className="page-body">
      <PageHeader
        title="Your account"
        lead="Your rights, your password, your second factor and your sessions."
      />
      <div className="columns pairs">
        <Panel title="Rights">
          <dl className="facts">
            <dt>User</dt>
            <dd>
              <SafeText text={session.user_id} />
            </dd>
            <dt>Roles</dt>
            <dd>{session.roles.join(', ')}</dd>
            <dt>Tenants</dt>
            <dd>{session.tenants.includes('*') ? 'all' : <SafeText text={session.tenants.join(', ')} />}</dd>
            <dt>Second factor</dt>
            <dd>{session.second_factor.totp || session.second_factor.passkeys > 0 ? 'set up' : 'none'}</dd>
          </dl>
        </Panel>
        <PasswordPanel />
        <AuthenticatorPanel />
        <PasskeysPanel />
      </div>
      <SessionsPanel />
    </div>
  );
}

function PasswordPanel() {
  const call = useOperationCall('sessionPassword', ['sessionList']);
  const refreshSession = useSessionRefresh();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [repeated, setRepeated] = useState('');
  function change(event: FormEvent) {
    event.preventDefault();
    call.mutate(
      { current_password: current, new_password: next },
      {
        onSuccess: async () => {
          setCurrent('');
          setNext('');
          setRepeated('');
          await refreshSession();
        },
      },
    );
  }
  return (
    <Panel title="Password">
      <form className="stack" onSubmit={change}>
        <PasswordField label="Current password" value={current} onChange={setCurrent} />
        <NewPasswordFields
          password={next}
          repeated={repeated}
          onPassword={setNext}
          onRepeated={setRepeated}
        />
        <ErrorNote error={call.error} />
        {call.isSuccess ? (
          <p className="note good" role="status">
            Password changed. All other sessions have ended.
          </p>
        ) : null}
        <p>
          <Button type="submit" disabled={call.isPending}>
            Change password
          </Button>
        </p>
      </form>
    </Panel>
  );
}

function AuthenticatorPanel() {
  const { second_factor } = useSession();
  return (
    <Panel title="Authenticator app">
      {second_factor.totp ? <RemoveAuthenticator /> : <AddAuthenticator />}
    </Panel>
  );
}

function AddAuthenticator() {
  const start = useOperationCall('sessionTotpStart', []);
  const confirm = useOperationCall('sessionTotpConfirm', []);
  const refreshSession = useSessionRefresh();
  const [code, setCode] = useState('');
  const proof = useSecondFactor(start.error);
  if (start.data === undefined)
    return (
      <div className="stack">
        <p>A code of an app on your phone protects your account after the password.</p>
        <ErrorOrProof error={start.error} proof={proof} />
        <p>
          <Button
            disabled={start.isPending}
            onClick={() => void proof.prove().then((isProved) => isProved && start.mutate({}))}
          >
            Set up an app
          </Button>
        </p>
      </div>
    );
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        confirm.mutate({ code }, { onSuccess: refreshSession });
      }}
    >
      <p>Scan this picture with the app, or type the secret, then type the code that the app shows.</p>
      <QrCode text={start.data.uri} />
      <CodeBlock text={start.data.secret} label="Secret" />
      <CodeField value={code} onChange={setCode} />
      <ErrorNote error={confirm.error} />
      <p>
        <Button type="submit" look="primary" disabled={confirm.isPending}>
          Confirm
        </Button>
      </p>
    </form>
  );
}

function RemoveAuthenticator() {
  const remove = useOperationCall('sessionTotpRemove', []);
  const refreshSession = useSessionRefresh();
  const [code, setCode] = useState('');
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        remove.mutate({ code }, { onSuccess: refreshSession });
      }}
    >
      <p>An app is set up. To remove it, type a code of it.</p>
      <CodeField value={code} onChange={setCode} />
      <ErrorNote error={remove.error} />
      <p>
        <Button type="submit" look="danger" disabled={remove.isPending}>
          Remove the app
        </Button>
      </p>
    </form>
  );
}

/** Draws a QR code in the browser: the secret in it goes to no other program. */
function QrCode({ text }: { readonly text: string }) {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: 4 });
  const path = modules
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('');
  return (
    <svg
      className="qr-code"
      viewBox={`0 0 ${modules.length} ${modules.length}`}
      role="img"
      aria-label="QR code of the secret for the authenticator app"
    >
      <path d={path} />
    </svg>
  );
}

function PasskeysPanel() {
  const { data, error } = useOperation('passkeyList', {});
  const remove = useOperationCall('passkeyRemove', ['passkeyList']);
  const refreshSession = useSessionRefresh();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const add = useMutation({
    mutationFn: async () => callOperation('passkeyAdd', { name, response: await createPasskey() }),
    onSuccess: async () => {
      setName('');
      await refreshSession();
      await client.invalidateQueries({ queryKey: ['passkeyList'] });
    },
  });
  const proof = useSecondFactor(add.error ?? remove.error);
  async function addPasskey() {
    if (!(await proof.prove())) return;
    remove.reset();
    add.mutate();
  }
  async function removePasskey(passkeyId: string) {
    if (!(await proof.prove())) return;
    add.reset();
    remove.mutate({ passkey_id: passkeyId }, { onSuccess: refreshSession });
  }
  return (
    <Panel title="Passkeys">
      <div className="stack">
        <ErrorOrProof error={error ?? add.error ?? remove.error} proof={proof} />
        <ul className="plain-list">
          {(data?.passkeys ?? []).map((passkey) => (
            <li key={passkey.passkey_id} className="row-buttons">
              <SafeText text={passkey.name} />
              <span className="muted">
                used <Time at={passkey.last_used_at ?? passkey.created_at} />
              </span>
              <Button
                look="danger"
                is_small
                disabled={remove.isPending}
                onClick={() => void removePasskey(passkey.passkey_id)}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
        {typeof PublicKeyCredential === 'undefined' ? (
          <p className="muted">
            This browser, or this address, has no passkeys. They need HTTPS or localhost.
          </p>
        ) : (
          <form
            className="field-row"
            onSubmit={(event) => {
              event.preventDefault();
              void addPasskey();
            }}
          >
            <label className="field grow">
              <span>Name of the new passkey</span>
              <input
                className="input"
                required
                maxLength={64}
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
              />
            </label>
            <Button type="submit" disabled={add.isPending}>
              Add a passkey
            </Button>
          </form>
        )}
      </div>
    </Panel>
  );
}

interface ErrorOrProofProps {
  readonly error: unknown;
  readonly proof: ReturnType<typeof useSecondFactor>;
}

/** Shows the error of a change, or the field for the second factor if the service asks for one first. */
function ErrorOrProof({ error, proof }: ErrorOrProofProps) {
  const shown = proof.error ?? (proof.is_needed ? null : error);
  return (
    <>
      <ErrorNote error={shown} />
      <SecondFactorField factor={proof} />
    </>
  );
}

type SignInSession = OperationOutput<'sessionList'>['sessions'][number];

function SessionsPanel() {
  const { data, error } = useOperation('sessionList', {});
  const revoke = useOperationCall('sessionRevoke', ['sessionList']);
  const columns: readonly DataColumn<SignInSession>[] = [
    { id: 'method', title: 'Method', width: 90 },
    {
      id: 'browser',
      title: 'Browser',
      value: ({ user_agent }) => user_agent,
      width: 320,
    },
    {
      id: 'address',
      title: 'Address',
    },
    {
      id: 'last_seen_at',
      title: 'Last seen',
      form: 'time',
    },
    {
      id: 'revoke',
      title: 'End',
      value: ({ is_current }) => (is_current === true ? 'this session' : ''),
      render: ({ session_id, is_current }) =>
        is_current === true ? (
          <span className="muted">this session</span>
        ) : (
          <Button
            look="danger"
            is_small
            disabled={revoke.isPending}
            onClick={() => revoke.mutate({ session_id })}
          >
            End session
          </Button>
        ),
    },
  ];
  return (
    <Panel title="Your sessions">
      <DataTable
        name="own-sessions"
        error={error ?? revoke.error}
        label="Your sessions"
        columns={columns}
        rows={data?.sessions}
        rowKey={({ session_id }) => session_id}
        empty={null}
      />
    </Panel>
  );
}

/** Returns a function that reads the session again: its token changes with its rights. */
function useSessionRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
  };
}
