import { useState } from 'react';
import { OPERATOR_PERMISSIONS, PERMISSIONS } from '../../../../src/runtime/config/permissions.ts';
import type { OperationOutput } from '../../api/client.ts';
import { useOperationCall } from '../../api/use-operation.ts';
import { CallDialog } from '../../components/call-dialog.tsx';
import { ChoiceField, Choices } from '../../components/choice-field.tsx';
import { splitList, TextField } from '../../components/text-field.tsx';

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
  const [expiresIn, setExpiry] = useState('90d');
  const [permissions, setPermissions] = useState<readonly string[]>([]);
  const input = {
    name,
    ...listMember('tenants', splitList(tenants)),
    ...listMember('agents', splitList(agents)),
    ...listMember('permissions', [...permissions]),
    ...(expiresIn === '' ? {} : { expires_in: expiresIn }),
  };
  return (
    <CallDialog
      title="Create an API key"
      action="Create key"
      call={call}
      input={input}
      onDone={onCreated}
      onClose={onClose}
    >
      <TextField
        label="Name: letters, digits and . _ -"
        required
        maxLength={128}
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
        value={name}
        onChange={setName}
      />
      <TextField label="Tenants, separated by commas; empty for any" value={tenants} onChange={setTenants} />
      <TextField label="Agents, separated by commas; empty for any" value={agents} onChange={setAgents} />
      <ChoiceField label="Lifetime" choices={LIFETIMES} value={expiresIn} onChange={setExpiry} />
      <Choices
        label="Permissions; without a choice: to check, and to read its own results"
        options={KEY_PERMISSIONS}
        chosen={permissions}
        onChange={setPermissions}
        render={(permission) => <code>{permission}</code>}
      />
    </CallDialog>
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
    <CallDialog
      title={`Rotate ${entry.name}`}
      action="Rotate key"
      onClose={onClose}
      call={call}
      input={{ key_id: entry.key_id ?? '', overlap }}
      onDone={(key) => onCreated(key)}
    >
      <p>A new key with the same name and scope is made. The old one still works until the overlap ends.</p>
      <ChoiceField label="Overlap" choices={OVERLAPS} value={overlap} onChange={setOverlap} />
    </CallDialog>
  );
}

interface RevokeKeyDialogProps {
  readonly entry: ApiKeyEntry;
  readonly onClose: () => void;
}

export function RevokeKeyDialog({ entry, onClose }: RevokeKeyDialogProps) {
  const call = useOperationCall('keysRevoke', ['keysList']);
  return (
    <CallDialog
      title={`Revoke ${entry.name}`}
      action="Revoke key"
      is_dangerous
      onClose={onClose}
      call={call}
      input={{ key_id: entry.key_id ?? '' }}
    >
      <p>All calls with this key are refused from now on. This cannot be undone.</p>
    </CallDialog>
  );
}

function listMember<const Name extends string>(name: Name, values: string[]) {
  return (values.length === 0 ? {} : { [name]: values }) as { [Key in Name]?: string[] };
}
