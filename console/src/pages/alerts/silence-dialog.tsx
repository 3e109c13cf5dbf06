import { useState } from 'react';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { CallDialog } from '../../components/call-dialog.tsx';
import { ChoiceField } from '../../components/choice-field.tsx';
import { revealHidden } from '../../components/safe-text.tsx';
import { TextField } from '../../components/text-field.tsx';

const LENGTHS = [
  ['1h', '1 hour'],
  ['4h', '4 hours'],
  ['1d', '1 day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const;
const SEVERITIES = [
  ['', 'any'],
  ['critical', 'critical'],
  ['high', 'high'],
  ['medium', 'medium'],
  ['low', 'low'],
] as const;

interface SilenceDialogProps {
  /** The rule that is chosen at first. */
  readonly rule_id?: string;
  readonly onClose: () => void;
}

/** Asks what to silence, for how long, and why. */
export function SilenceDialog({ rule_id = '', onClose }: SilenceDialogProps) {
  const { data } = useOperation('alertRulesList', { limit: 500 });
  const add = useOperationCall('alertSilencesAdd', ['alertSilencesList', 'alertsHistory', 'alertsShow']);
  const [rule, setRule] = useState(rule_id);
  const [severity, setSeverity] = useState('');
  const [tenant, setTenant] = useState('');
  const [expiresIn, setLength] = useState('4h');
  const [reason, setReason] = useState('');
  const rules = (data?.rules ?? []).map(
    (each) => [each.rule_id, `${revealHidden(each.name)} (${each.rule_id})`] as const,
  );
  const input = {
    expires_in: expiresIn,
    reason,
    ...(rule !== '' && { rule_id: rule }),
    ...(severity !== '' && { severity: severity as 'critical' | 'high' | 'medium' | 'low' }),
    ...(tenant !== '' && { tenant_id: tenant }),
  };
  return (
    <CallDialog title="Silence alerts" action="Silence" call={add} input={input} onClose={onClose}>
      <p>Alerts that match are recorded, and no message is sent until the silence ends.</p>
      <ChoiceField
        label="Rule"
        value={rule}
        onChange={setRule}
        choices={[['', 'all rules'], ...withChosen(rules, rule)]}
      />
      <ChoiceField label="Severity" value={severity} onChange={setSeverity} choices={SEVERITIES} />
      <TextField label="Tenant; empty for all" value={tenant} onChange={setTenant} maxLength={256} />
      <ChoiceField label="For" value={expiresIn} onChange={setLength} choices={LENGTHS} />
      <TextField label="Reason" value={reason} onChange={setReason} required maxLength={500} />
    </CallDialog>
  );
}

/** Adds the chosen rule if it was removed since, so that the choice stays visible. */
function withChosen(rules: readonly (readonly [string, string])[], chosen: string) {
  if (chosen === '' || rules.some(([id]) => id === chosen)) return rules;
  return [...rules, [chosen, chosen] as const];
}
