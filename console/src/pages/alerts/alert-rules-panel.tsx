import { useState } from 'react';
import { useMayCall } from '../../api/session.ts';
import { useOperation } from '../../api/use-operation.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { useAddressQuery } from '../../components/filter-chips.tsx';
import { revealHidden, SafeText } from '../../components/safe-text.tsx';
import { AlertRuleDetails } from './alert-rule-details.tsx';
import { AlertRuleDialog, type AlertRuleEntry } from './alert-rule-dialog.tsx';

/** The rules that raise alerts. One is shown with its buttons when it is opened. */
export function AlertRulesPanel() {
  const { data, error } = useOperation('alertRulesList', { limit: 500 }, { refresh_ms: 15_000 });
  const [query, change] = useAddressQuery();
  const [isAdding, setAdding] = useState(false);
  const mayCall = useMayCall();
  const channels = data?.channels ?? [];
  const open = data?.rules.find(({ rule_id }) => rule_id === query.rule);
  return (
    <>
      <ErrorNote error={error} />
      {open === undefined ? null : (
        <AlertRuleDetails
          key={open.rule_id}
          rule={open}
          channels={channels}
          onClose={() => change({ rule: '' })}
        />
      )}
      <DataTable
        name="alert-rules"
        label="Alert rules"
        columns={COLUMNS}
        rows={data?.rules}
        rowKey={({ rule_id }) => rule_id}
        onOpen={({ rule_id }) => change({ rule: rule_id })}
        empty={
          <EmptyState
            title="There is no alert rule yet."
            command={'customshouse alerts add secrets-blocked --name "Secrets were blocked" --tag secret'}
          >
            Without a rule no alert is raised. A rule counts events and fires at a threshold.
          </EmptyState>
        }
      >
        {mayCall('alertRulesSave') ? (
          <Button look="primary" is_small onClick={() => setAdding(true)}>
            Add a rule
          </Button>
        ) : null}
      </DataTable>
      {isAdding ? <AlertRuleDialog rule={null} channels={channels} onClose={() => setAdding(false)} /> : null}
    </>
  );
}

const COLUMNS: readonly DataColumn<AlertRuleEntry>[] = [
  {
    id: 'name',
    title: 'Rule',
    width: 200,
  },
  {
    id: 'state',
    title: 'State',
    value: ({ enabled, problem }) => (problem !== null ? 'not evaluated' : enabled ? 'active' : 'off'),
    render: (rule) => <RuleState rule={rule} />,
    width: 120,
  },
  {
    id: 'severity',
    title: 'Severity',
    form: 'badge',
    width: 100,
    is_wide_only: true,
  },
  {
    id: 'source',
    title: 'Counts',
    value: ({ source }) => source.replaceAll('_', ' '),
    width: 130,
    is_wide_only: true,
  },
  {
    id: 'threshold',
    title: 'Fires at',
    render: ({ threshold, window }) => `${threshold} in ${window}`,
    width: 100,
    is_wide_only: true,
  },
  {
    id: 'channels',
    title: 'Channels',
    value: ({ channels }) => channels.join(', '),
    render: ({ channels }) => <SafeText text={channels.join(', ')} />,
    width: 160,
    is_wide_only: true,
  },
  {
    id: 'open_alerts',
    title: 'Open alerts',
    width: 110,
    is_number: true,
    is_wide_only: true,
  },
  {
    id: 'origin',
    title: 'From',
    value: ({ origin }) => (origin === 'api' ? 'saved' : 'configuration'),
    width: 110,
    is_wide_only: true,
  },
  { id: 'rule_id', title: 'ID', is_extra: true, width: 200 },
];

function RuleState({ rule }: { readonly rule: AlertRuleEntry }) {
  if (rule.problem !== null)
    return (
      <span className="bad-figure" title={revealHidden(rule.problem)}>
        not evaluated
      </span>
    );
  return rule.enabled ? <Badge value="active" /> : <span className="muted">off</span>;
}
