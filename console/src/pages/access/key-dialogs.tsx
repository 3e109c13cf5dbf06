import { useState } from 'react';
import { OPERATOR_PERMISSIONS, PERMISSIONS } from '../../../../src/runtime/config/permissions.ts';
import type { OperationOutput } from '../../api/client.ts';
import { useOperationCall } from '../../api/use-operation.ts';
import { ChoiceField } from '../../components/choice-field.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';

export type ApiKeyEntry = OperationOutput<'keysList'>['keys'][number];

interface KeyDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (key: OperationOutput<'keysRotate'>) => void;
}

/** The permissions that an agent's key may have. */
const KEY_PERMISSIONS = PERMISSIONS.filter((one) => !OPERATOR_PERMISSIONS.includes(one));

const LIFETIMES = [
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['365d', '1 year'],
  ['', 'does not expire'],
] as const;

export function CreateKeyDialog({ onClose, onCreated }: KeyDialogProps) {
  const call = useOperationCall('keysCreate', ['keysList']);
  const [name, setName] = useState('');
  const [tenants, setTenants] = useState('');
  const [agents, setAgents] = useState('');
  const [expires_in, setExpiry] = useState('90d');
  const [permissions, setPermissions] = useState<readonly string[]>([]);
  function create() {
    const input = {
      name,
      ...listMember('tenants', splitList(tenants)),
      ...listMember('agents', splitList(agents)),
      ...listMember('permissions', [...permissions]),
      ...(expires_in === '' ? {} : { expires_in }),
    };
    call.mutate(input, {
      onSuccess: (key) => {
        onCreated(key);
        onClose();
      },
    });
  }
  return (
    <ConfirmDialog
      title="Create an API key"
      action="Create key"
      is_busy={call.isPending}
      error={call.error}
      onClose={onClose}
      onConfirm={create}
    >
      <label className="field">
        <span>Name: letters, digits and . _ -</span>
        <input
          className="input"
          required
          spellCheck={false}
          maxLength={128}
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <TextField label="Tenants, separated by commas; empty for any" value={tenants} onChange={setTenants} />
      <TextField label="Agents, separated by commas; empty for any" value={agents} onChange={setAgents} />
      <ChoiceField label="Lifetime" choices={LIFETIMES} value={expires_in} onChange={setExpiry} />
      <fieldset className="choices">
        <legend>Permissions; without a choice: to check, and to read its own results</legend>
        {KEY_PERMISSIONS.map((permission) => (
          <label key={permission}>
            <input
              type="checkbox"
              checked={permissions.includes(permission)}
              onChange={() =>
                setPermissions(
                  permissions.includes(permission)
                    ? permissions.filter((each) => each !== permission)
                    : [...permissions, permission],
                )
              }
            />
            <code>{permission}</code>
          </label>
        ))}
      </fieldset>
    </ConfirmDialog>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function TextField({ label, value, onChange }: TextFieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="input"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}

const OVERLAPS = [
  ['1h', '1 hour'],
  ['24h', '1 day'],
  ['7d', '7 days'],
] as const;

export function RotateKeyDialog({
  entry,
  onClose,
  onCreated,
}: KeyDialogProps & { readonly entry: ApiKeyEntry }) {
  const call = useOperationCall('keysRotate', ['keysList']);
  const [overlap, setOverlap] = useState('24h');
  return (
    <ConfirmDialog
      title={`Rotate ${entry.name}`}
      action="Rotate key"
      is_busy={call.isPending}
      error={call.error}
      onClose={onClose}
      onConfirm={() =>
        call.mutate(
          { key_id: entry.key_id ?? '', overlap },
          {
            onSuccess: (key) => {
              onCreated(key);
              onClose();
            },
          },
        )
      }
    >
      <p>A new key with the same name and scope is made. The old one still works until the overlap ends.</p>
      <ChoiceField label="Overlap" choices={OVERLAPS} value={overlap} onChange={setOverlap} />
    </ConfirmDialog>
  );
}

interface RevokeKeyDialogProps {
  readonly entry: ApiKeyEntry;
  readonly onClose: () => void;
}

export function RevokeKeyDialog({ entry, onClose }: RevokeKeyDialogProps) {
  const call = useOperationCall('keysRevoke', ['keysList']);
  return (
    <ConfirmDialog
      title={`Revoke ${entry.name}`}
      action="Revoke key"
      is_dangerous
      is_busy={call.isPending}
      error={call.error}
      onClose={onClose}
      onConfirm={() => call.mutate({ key_id: entry.key_id ?? '' }, { onSuccess: onClose })}
    >
      <p>All calls with this key are refused from now on. This cannot be undone.</p>
    </ConfirmDialog>
  );
}

/** Splits a list that is typed with commas. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function listMember<const Name extends string>(name: Name, values: string[]) {
  return (values.length === 0 ? {} : { [name]: values }) as { [Key in Name]?: string[] };
}
