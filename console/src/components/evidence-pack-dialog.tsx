import { useState } from 'react';
import { FRAMEWORK_IDS } from '../../../src/operations/compliance-frameworks.ts';
import { useSession } from '../api/session.ts';
import { useOperationCall } from '../api/use-operation.ts';
import { CallDialog } from './call-dialog.tsx';
import { ChoiceField } from './choice-field.tsx';
import { TextField } from './text-field.tsx';

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

const FRAMEWORKS = [['', 'Without a report'], ...FRAMEWORK_IDS.map((id) => [id, id] as const)] as const;

/** Starts to make an evidence pack: for a window, a tenant, and with the report for a framework. */
export function EvidencePackDialog({ framework = '', last = '90d', onClose }: EvidencePackDialogProps) {
  const { tenants } = useSession();
  const call = useOperationCall('evidencePackStart', ['auditJobs']);
  const isKnown = WINDOWS.some(([value]) => value === last);
  const [window, setWindow] = useState(isKnown ? last : '90d');
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [tenantId, setTenant] = useState(tenants.includes('*') ? '' : (tenants[0] ?? ''));
  const [chosen, setFramework] = useState(framework);
  const input = {
    ...(window === '' ? { since, ...(until === '' ? {} : { until }) } : { last: window }),
    ...(tenantId === '' ? {} : { tenant_id: tenantId }),
    ...(chosen === '' ? {} : { framework: chosen }),
  };
  return (
    <CallDialog title="Make an evidence pack" action="Make pack" call={call} input={input} onClose={onClose}>
      <p>
        A signed archive with the events of a window, the records that prove them, and a verifier. It is made
        in the background; download it here when it is ready.
      </p>
      <ChoiceField label="Window" choices={WINDOWS} value={window} onChange={setWindow} />
      {window === '' ? (
        <div className="field-row">
          <TextField type="date" label="From (UTC)" value={since} onChange={setSince} required />
          <TextField type="date" label="Before (UTC; empty for now)" value={until} onChange={setUntil} />
        </div>
      ) : null}
      <TenantField tenants={tenants} value={tenantId} onChange={setTenant} />
      <ChoiceField label="Compliance report" choices={FRAMEWORKS} value={chosen} onChange={setFramework} />
    </CallDialog>
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
    return <TextField label="Tenant; empty for all" maxLength={256} value={value} onChange={onChange} />;
  return (
    <ChoiceField
      label="Tenant"
      choices={tenants.map((one) => [one, one])}
      value={value}
      onChange={onChange}
    />
  );
}
