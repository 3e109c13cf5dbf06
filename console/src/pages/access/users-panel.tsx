import { useState } from 'react';
import { ROLES } from '../../../../src/runtime/config/permissions.ts';
import type { OperationOutput } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import { CallDialog } from '../../components/call-dialog.tsx';
import { Choices } from '../../components/choice-field.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { splitList, TextField } from '../../components/text-field.tsx';

type User = OperationOutput<'usersList'>['users'][number];
type Role = User['roles'][number];

interface OpenDialog {
  readonly kind: 'add' | 'roles' | 'disable' | 'reset' | 'sign-out';
  readonly user: User | null;
}

/** The users who can sign in: adds them, changes their roles, disables and resets them. */
export function UsersPanel() {
  const { data, error } = useOperation('usersList', { limit: 1_000 });
  const { user_id: ownId } = useSession();
  const enable = useOperationCall('usersEnable', ['usersList']);
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const [link, setLink] = useState<{ readonly user_id: string; readonly link: string } | null>(null);
  const close = () => setDialog(null);

  const columns: readonly DataColumn<User>[] = [
    {
      id: 'user_id',
      title: 'User',
      value: ({ user_id }) => user_id,
      render: ({ user_id, name }) => (
        <>
          <SafeText text={user_id} />
          {name === user_id ? null : (
            <span className="muted">
              {' '}
              <SafeText text={name} />
            </span>
          )}
        </>
      ),
    },
    { id: 'roles', title: 'Roles', value: ({ roles }) => roles.join(', ') },
    {
      id: 'tenants',
      title: 'Tenants',
      value: ({ tenants }) => tenants.join(', '),
      render: ({ tenants }) => (tenants.includes('*') ? 'all' : <SafeText text={tenants.join(', ')} />),
    },
    { id: 'source', title: 'Signs in with', value: describeSignIn, width: 180 },
    {
      id: 'last_sign_in_at',
      title: 'Last sign-in',
      form: 'time',
      is_wide_only: true,
    },
    {
      id: 'state',
      title: 'State',
      value: ({ disabled }) => (disabled ? 'disabled' : 'active'),
      width: 90,
    },
    {
      id: 'change',
      title: 'Change',
      value: () => '',
      width: 330,
      render: (user) =>
        user.user_id === ownId ? (
          <span className="muted">your own account</span>
        ) : (
          <span className="row-buttons">
            <Button is_small onClick={() => setDialog({ kind: 'roles', user })}>
              Roles
            </Button>
            {user.source === 'local' ? (
              <Button is_small onClick={() => setDialog({ kind: 'reset', user })}>
                Reset
              </Button>
            ) : null}
            <Button is_small onClick={() => setDialog({ kind: 'sign-out', user })}>
              Sign out
            </Button>
            {user.disabled ? (
              <Button
                is_small
                disabled={enable.isPending}
                onClick={() => enable.mutate({ user_id: user.user_id })}
              >
                Enable
              </Button>
            ) : (
              <Button look="danger" is_small onClick={() => setDialog({ kind: 'disable', user })}>
                Disable
              </Button>
            )}
          </span>
        ),
    },
  ];

  return (
    <>
      <ErrorNote error={error} />
      <ErrorNote error={enable.error} />
      {link === null ? null : (
        <div className="note good" role="status">
          <p>
            Give this link to <SafeText text={link.user_id} />. It sets the password once, and it is shown
            only now.
          </p>
          <CodeBlock text={link.link} label="One-time link" />
        </div>
      )}
      <DataTable
        name="users"
        label="Users"
        columns={columns}
        rows={data?.users}
        rowKey={({ user_id }) => user_id}
        empty={
          <EmptyState
            title="No user can sign in yet."
            command={'customshouse users add ann --role approver'}
          />
        }
      >
        <Button look="primary" is_small onClick={() => setDialog({ kind: 'add', user: null })}>
          Add a user
        </Button>
      </DataTable>
      {dialog?.kind === 'add' ? <AddUserDialog onClose={close} onLink={setLink} /> : null}
      {dialog?.user != null ? (
        <ChangeDialog kind={dialog.kind} user={dialog.user} onClose={close} onLink={setLink} />
      ) : null}
    </>
  );
}

function describeSignIn({ source, has_password, second_factors }: User): string {
  if (source === 'oidc') return 'OpenID provider';
  const first = has_password === true ? 'password' : 'one-time link';
  return second_factors.length === 0 ? first : `${first} and ${second_factors.join(', ')}`;
}

interface ChangeDialogProps {
  readonly kind: OpenDialog['kind'];
  readonly user: User;
  readonly onClose: () => void;
  readonly onLink: (link: { readonly user_id: string; readonly link: string }) => void;
}

function ChangeDialog({ kind, user, onClose, onLink }: ChangeDialogProps) {
  const { user_id } = user;
  const disable = useOperationCall('usersDisable', ['usersList']);
  const reset = useOperationCall('usersReset', ['usersList']);
  const signOut = useOperationCall('usersSignOut', ['usersList']);
  if (kind === 'roles') return <RolesDialog user={user} onClose={onClose} />;
  if (kind === 'disable')
    return (
      <CallDialog
        title={`Disable ${user_id}`}
        action="Disable user"
        is_dangerous
        onClose={onClose}
        call={disable}
        input={{ user_id }}
      >
        <p>
          All sessions of this user end at once, and the user cannot sign in until you enable the account
          again.
        </p>
      </CallDialog>
    );
  if (kind === 'reset')
    return (
      <CallDialog
        title={`Reset the sign-in of ${user_id}`}
        action="Reset sign-in"
        is_dangerous
        onClose={onClose}
        call={reset}
        input={{ user_id }}
        onDone={({ link }) => onLink({ user_id, link })}
      >
        <p>This removes the password and all second factors, ends the sessions, and makes a one-time link.</p>
      </CallDialog>
    );
  return (
    <CallDialog
      title={`Sign ${user_id} out`}
      action="End sessions"
      onClose={onClose}
      call={signOut}
      input={{ user_id }}
    >
      <p>All browsers of this user must sign in again.</p>
    </CallDialog>
  );
}

function RolesDialog({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const call = useOperationCall('usersRole', ['usersList']);
  const [roles, setRoles] = useState<readonly Role[]>(user.roles);
  const [tenants, setTenants] = useState(user.tenants.join(', '));
  return (
    <CallDialog
      title={`Roles and tenants of ${user.user_id}`}
      action="Change roles"
      onClose={onClose}
      call={call}
      input={{ user_id: user.user_id, role: [...roles], tenant: splitList(tenants) }}
    >
      <RightsFields roles={roles} tenants={tenants} onRoles={setRoles} onTenants={setTenants} />
    </CallDialog>
  );
}

interface AddUserDialogProps {
  readonly onClose: () => void;
  readonly onLink: ChangeDialogProps['onLink'];
}

function AddUserDialog({ onClose, onLink }: AddUserDialogProps) {
  const call = useOperationCall('usersAdd', ['usersList']);
  const [userId, setUser] = useState('');
  const [roles, setRoles] = useState<readonly Role[]>(['viewer']);
  const [tenants, setTenants] = useState('default');
  return (
    <CallDialog
      title="Add a user"
      action="Add user"
      onClose={onClose}
      call={call}
      input={{ user_id: userId, role: [...roles], tenant: splitList(tenants) }}
      onDone={({ link }) => onLink({ user_id: userId, link })}
    >
      <TextField
        label="User"
        required
        autoCapitalize="none"
        maxLength={128}
        pattern="[A-Za-z0-9][A-Za-z0-9._@+\-]*"
        title="Letters, digits and . _ @ + -"
        value={userId}
        onChange={setUser}
      />
      <RightsFields roles={roles} tenants={tenants} onRoles={setRoles} onTenants={setTenants} />
    </CallDialog>
  );
}

interface RightsFieldsProps {
  readonly roles: readonly Role[];
  readonly tenants: string;
  readonly onRoles: (roles: readonly Role[]) => void;
  readonly onTenants: (tenants: string) => void;
}

function RightsFields({ roles, tenants, onRoles, onTenants }: RightsFieldsProps) {
  return (
    <>
      <Choices
        label="Roles"
        options={ROLES}
        chosen={roles}
        onChange={onRoles}
        render={(role) => role.replace('_', ' ')}
      />
      <TextField
        label="Tenants, separated by commas; * for all"
        required
        value={tenants}
        onChange={onTenants}
      />
    </>
  );
}
