import { useState } from 'react';
import { FRAMEWORK_IDS } from '../../../src/operations/compliance-frameworks.ts';
import { useSession } from '../api/session.ts';
import { useOperationCall } from '../api/use-operation.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';

interface EvidencePackDialogProps {
  /** The framework that is chosen first; empty for none. */
  readonly framework?: string;
  /** The length of the window that is chosen first. */
  readonly last?: string;
  readonly onClose: () => void;
}

const WINDOWS = [
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
  ['90d', 'Last 90 days'],
  ['365d', 'Last year'],
  ['', 'From a day to a day'],
] as const;

/** Starts to make an evidence pack: for a window, a tenant, and with the report for a framework. */
export function EvidencePackDialog({ framework = '', last = '90d', onClose }: EvidencePackDialogProps) {
  const { tenants } = useSession();
  const call = useOperationCall('evidencePackStart', ['auditTasks']);
  const is_known = WINDOWS.some(([value]) => value === last);
  const [window, setWindow] = useState(is_known ? last : '90d');
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [tenant_id, setTenant] = useState(tenants.includes('*') ? '' : (tenants[0] ?? ''));
  const [chosen, setFramework] = useState(framework);
  function start() {
    const times = window === '' ? { since, ...(until === '' ? {} : { until }) } : { last: window };
    const input = {
      ...times,
      ...(tenant_id === '' ? {} : { tenant_id }),
      ...(chosen === '' ? {} : { framework: chosen }),
    };
    call.mutate(input, { onSuccess: onClose });
  }
  return (
    <ConfirmDialog
      title="Make an evidence pack"
      action="Make pack"
      is_busy={call.isPending}
      error={call.error}
      onConfirm={start}
      onClose={onClose}
    >
      <p>
        A signed archive with the events of a window, the records that prove them, and a verifier. It is made
        in the background; download it here when it is ready.
      </p>
      <label className="field">
        <span>Window</span>
        <select className="select" value={window} onChange={(event) => setWindow(event.currentTarget.value)}>
          {WINDOWS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {window === '' ? (
        <div className="field-row">
          <DayField label="From (UTC)" value={since} onChange={setSince} is_required />
          <DayField label="Before (UTC; empty for now)" value={until} onChange={setUntil} />
        </div>
      ) : null}
      <TenantField tenants={tenants} value={tenant_id} onChange={setTenant} />
      <label className="field">
        <span>Compliance report</span>
        <select
          className="select"
          value={chosen}
          onChange={(event) => setFramework(event.currentTarget.value)}
        >
          <option value="">Without a report</option>
          {FRAMEWORK_IDS.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </label>
    </ConfirmDialog>
  );
}

interface TenantFieldProps {
  readonly tenants: readonly string[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A user of particular tenants chooses one of them; others may name any. */
function TenantField({ tenants, value, onChange }: TenantFieldProps) {
  if (tenants.includes('*'))
    return (
      <label className="field">
        <span>Tenant; empty for all</span>
        <input
          className="input"
          spellCheck={false}
          maxLength={256}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      </label>
    );
  return (
    <label className="field">
      <span>Tenant</span>
      <select className="select" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {tenants.map((tenant) => (
          <option key={tenant} value={tenant}>
            {tenant}
          </option>
        ))}
      </select>
    </label>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly is_required?: boolean;
}

/** A field for a day. */
export function DayField({ label, value, onChange, is_required = false }: DayFieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="input"
        type="date"
        required={is_required}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
