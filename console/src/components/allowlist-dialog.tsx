import { useState } from 'react';
import type { OperationOutput } from '../api/client.ts';
import { useOperationCall } from '../api/use-operation.ts';
import { CallDialog } from './call-dialog.tsx';
import { ChoiceField } from './choice-field.tsx';
import { SafeText } from './safe-text.tsx';
import { TextField } from './text-field.tsx';

type IncidentEvent = OperationOutput<'dashboardIncident'>['event'];

interface AllowlistDialogProps {
  readonly event: IncidentEvent;
  /** Index of the finding in the event. */
  readonly finding_index: number;
  readonly onClose: () => void;
}

const EXPIRIES = [
  ['1d', 'one day'],
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['365d', 'one year'],
] as const;

/** Allowlists the value of one finding for the event's tenant, with a reason and an expiry. */
export function AllowlistDialog({ event, finding_index, onClose }: AllowlistDialogProps) {
  const [reason, setReason] = useState('');
  const [expiresIn, setExpiry] = useState('30d');
  const add = useOperationCall('allowlistAdd', ['dashboardDetection', 'allowlistList']);
  return (
    <CallDialog
      title="Allowlist this value"
      action="Allowlist value"
      is_dangerous
      call={add}
      input={{
        event_id: event.event_id,
        finding_index,
        tenant_id: event.tenant_id,
        reason,
        expires_in: expiresIn,
      }}
      onClose={onClose}
    >
      <p>
        Rules ignore exactly this value in the tenant <SafeText text={event.tenant_id} /> until the entry
        expires. The value itself is not stored.
      </p>
      <TextField
        label="Reason, for the audit log"
        required
        maxLength={500}
        value={reason}
        onChange={setReason}
      />
      <ChoiceField label="Expires after" choices={EXPIRIES} value={expiresIn} onChange={setExpiry} />
    </CallDialog>
  );
}
