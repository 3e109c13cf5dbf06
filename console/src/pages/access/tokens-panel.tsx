import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import { CallDialog } from '../../components/call-dialog.tsx';
import { ChoiceField } from '../../components/choice-field.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { splitList, TextField } from '../../components/text-field.tsx';

type CapabilityToken = OperationOutput<'capabilitiesList'>['capabilities'][number];
type IssuedToken = OperationOutput<'capabilitiesIssue'>;

const LIMIT = 1_000;
const LIFETIMES = [
  ['', 'the default of the service'],
  ['5m', '5 minutes'],
  ['10m', '10 minutes'],
  ['30m', '30 minutes'],
  ['1h', 'one hour'],
] as const;

/** The capability tokens of agents: each allows one agent one tool for a short time. Issues and revokes them. */
export function TokensPanel() {
  const { data, error } = useOperation('capabilitiesList', { limit: LIMIT });
  const mayIssue = useMayCall()('capabilitiesIssue');
  const [isIssuing, setIssuing] = useState(false);
  const [revoked, setRevoked] = useState<CapabilityToken | null>(null);
  const [issued, setIssued] = useState<IssuedToken | null>(null);
  return (
    <>
      <ErrorNote error={error} />
      {issued === null ? null : (
        <div className="note good" role="status">
          <p>
            This is the token for <SafeText text={issued.agent_id} />. Copy it now: it is shown only once, and
            the service stores only its hash.
          </p>
          <CodeBlock text={issued.token} label="Capability token" />
          <Button is_small onClick={() => setIssued(null)}>
            Hide the token
          </Button>
        </div>
      )}
      <DataTable
        name="tokens"
        label="Capability tokens"
        columns={mayIssue ? [...COLUMNS, buildRevokeColumn(setRevoked)] : COLUMNS}
        rows={data?.capabilities}
        rowKey={({ token_id }) => token_id}
        empty={
          <EmptyState
            title="No capability token was issued yet."
            command="customshouse capabilities issue --agent support-bot --tool send_email"
          >
            A token allows one agent one tool, and the secrets for it, for a short time.
          </EmptyState>
        }
      >
        {mayIssue ? (
          <Button look="primary" is_small onClick={() => setIssuing(true)}>
            Issue a token
          </Button>
        ) : null}
      </DataTable>
      {isIssuing ? <IssueDialog onClose={() => setIssuing(false)} onIssued={setIssued} /> : null}
      {revoked === null ? null : <RevokeTokenDialog token={revoked} onClose={() => setRevoked(null)} />}
    </>
  );
}

const COLUMNS: readonly DataColumn<CapabilityToken>[] = [
  {
    id: 'agent',
    title: 'Agent',
    value: ({ agent_id }) => agent_id,
  },
  {
    id: 'tool',
    title: 'Tool',
    value: ({ scope }) => scope.tool_name,
  },
  {
    id: 'status',
    title: 'Status',
    form: 'badge',
    width: 110,
  },
  {
    id: 'secrets',
    title: 'Secrets',
    value: ({ scope }) => scope.secret_keys.join(', '),
    render: ({ scope }) => <SafeText text={scope.secret_keys.join(', ')} />,
    is_wide_only: true,
  },
  {
    id: 'tenant',
    title: 'Tenant',
    value: ({ tenant_id }) => tenant_id,
    width: 110,
    is_wide_only: true,
  },
  {
    id: 'session',
    title: 'Session',
    value: ({ session_id }) => session_id ?? 'any',
    render: ({ session_id }) => (session_id === null ? 'any' : <SafeText text={session_id} />),
    is_wide_only: true,
  },
  {
    id: 'uses',
    title: 'Uses',
    width: 70,
    is_number: true,
    is_wide_only: true,
  },
  {
    id: 'expires',
    title: 'Expires',
    value: ({ expires_at }) => expires_at,
    form: 'time',
    width: 120,
  },
  {
    id: 'issued_by',
    title: 'Issued by',
    width: 120,
    is_wide_only: true,
  },
  { id: 'token_id', title: 'ID', is_extra: true, width: 260 },
];

function buildRevokeColumn(onRevoke: (token: CapabilityToken) => void): DataColumn<CapabilityToken> {
  return {
    id: 'change',
    title: 'Change',
    value: () => '',
    width: 110,
    render: (token) =>
      token.status === 'active' ? (
        <Button look="danger" is_small onClick={() => onRevoke(token)}>
          Revoke
        </Button>
      ) : null,
  };
}

interface IssueDialogProps {
  readonly onClose: () => void;
  readonly onIssued: (token: IssuedToken) => void;
}

function IssueDialog({ onClose, onIssued }: IssueDialogProps) {
  const call = useOperationCall('capabilitiesIssue', ['capabilitiesList']);
  const [agentId, setAgent] = useState('');
  const [toolName, setTool] = useState('');
  const [secrets, setSecrets] = useState('');
  const [tenantId, setTenant] = useState('');
  const [sessionId, setSession] = useState('');
  const [ttl, setTtl] = useState('');
  const secretKeys = splitList(secrets);
  const input = {
    agent_id: agentId,
    scope: { tool_name: toolName, ...(secretKeys.length === 0 ? {} : { secret_keys: secretKeys }) },
    ...(tenantId === '' ? {} : { tenant_id: tenantId }),
    ...(sessionId === '' ? {} : { session_id: sessionId }),
    ...(ttl === '' ? {} : { ttl }),
  };
  return (
    <CallDialog
      title="Issue a capability token"
      action="Issue token"
      call={call}
      input={input}
      onDone={onIssued}
      onClose={onClose}
    >
      <TextField label="Agent" value={agentId} onChange={setAgent} />
      <TextField label="Tool; * matches any characters" value={toolName} onChange={setTool} />
      <TextField
        label="Secrets for the tool, separated by commas; empty for none"
        value={secrets}
        onChange={setSecrets}
      />
      <TextField label="Tenant; empty for default" value={tenantId} onChange={setTenant} />
      <TextField label="Session; empty for any" value={sessionId} onChange={setSession} />
      <ChoiceField label="Lifetime" choices={LIFETIMES} value={ttl} onChange={setTtl} />
    </CallDialog>
  );
}

interface RevokeTokenDialogProps {
  readonly token: CapabilityToken;
  readonly onClose: () => void;
}

function RevokeTokenDialog({ token, onClose }: RevokeTokenDialogProps) {
  const call = useOperationCall('capabilitiesRevoke', ['capabilitiesList']);
  return (
    <CallDialog
      title="Revoke this token?"
      action="Revoke token"
      is_dangerous
      onClose={onClose}
      call={call}
      input={{ token_id: token.token_id }}
    >
      <p>
        <SafeText text={token.agent_id} /> cannot use <SafeText text={token.scope.tool_name} /> with it any
        more. Every worker refuses the token after this.
      </p>
    </CallDialog>
  );
}
