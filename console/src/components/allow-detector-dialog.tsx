import { useState } from 'react';
import type { OperationOutput } from '../api/client.ts';
import { useOperationCall } from '../api/use-operation.ts';
import { CallDialog } from './call-dialog.tsx';
import { ChoiceField } from './choice-field.tsx';
import { SafeText } from './safe-text.tsx';
import { WhyField } from './weaker-confirmation.tsx';

type IncidentEvent = OperationOutput<'dashboardIncident'>['event'];

interface AllowDetectorDialogProps {
  /** The stopped event, whose tool, agent and tenant become the scope. */
  readonly event: IncidentEvent;
  readonly onClose: () => void;
}

const EXPIRIES = [
  ['1d', 'one day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['365d', 'one year'],
] as const;

/** Allows what stopped an event for a time, in the event's scope, with a reason. */
export function AllowDetectorDialog({ event, onClose }: AllowDetectorDialogProps) {
  const [note, setNote] = useState('');
  const [until, setUntil] = useState('1d');
  const add = useOperationCall('allowlistDetectorAdd', ['dashboardIncident', 'allowlistDetectorList']);
  return (
    <CallDialog
      title="Allow calls like this"
      action="Allow"
      is_dangerous
      call={add}
      input={{ event_id: event.event_id, note, until, confirm_weaker: true }}
      onClose={onClose}
    >
      <p>
        Rules ignore the detectors that stopped this event, for the tool{' '}
        <SafeText text={event.tool_name ?? 'any'} />, the agent <SafeText text={event.agent_id} /> and the
        tenant <SafeText text={event.tenant_id} />. Contracts, identities, budgets and flow rules still
        decide. Secrets and changes to this service stay blocked.
      </p>
      <WhyField value={note} is_required onChange={setNote} />
      <ChoiceField label="Ends after" choices={EXPIRIES} value={until} onChange={setUntil} />
    </CallDialog>
  );
}
