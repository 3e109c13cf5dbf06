import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Badge } from '../../components/badge.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { revealHidden, SafeText } from '../../components/safe-text.tsx';
import { AlertRuleDialog, type AlertRuleEntry } from './alert-rule-dialog.tsx';

type Dialog = { readonly kind: 'edit' | 'remove'; readonly rule: AlertRuleEntry | null };

/** The buttons of a rule that the user may use. */
interface RuleActions {
  readonly onTry: (rule_id: string) => void;
  readonly onTest: ((rule_id: string) => void) | null;
  readonly onOpen: ((dialog: Dialog) => void) | null;
  readonly is_busy: boolean;
}

/** The rules that raise alerts: adds, changes, tests and removes them. */
export function AlertRulesPanel() {
  const { data, error } = useOperation('alertRulesList', { limit: 500 }, { refresh_ms: 15_000 });
  const mayCall = useMayCall();
  const test = useOperationCall('alertsTest', ['alertsDeliveries']);
  const evaluate = useOperationCall('alertsEvaluate', []);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const close = () => setDialog(null);
  const may_save = mayCall('alertRulesSave');
  const actions: RuleActions = {
    onTry: (rule_id) => {
      test.reset();
      evaluate.mutate({ rule_id, last: '24h' });
    },
    onTest: mayCall('alertsTest')
      ? (rule_id) => {
          evaluate.reset();
          test.mutate({ rule_id });
        }
      : null,
    onOpen: may_save ? setDialog : null,
    is_busy: test.isPending || evaluate.isPending,
  };
  const failure = error ?? test.error ?? evaluate.error;
  return (
    <>
      {failure === null ? null : <ErrorNote error={failure} />}
      <ActionResult tested={test.data} tried={evaluate.data} rule_id={evaluate.variables?.rule_id} />
      <DataTable
        name="alert-rules"
        label="Alert rules"
        columns={buildColumns(actions)}
        rows={data?.rules ?? []}
        rowKey={({ rule_id }) => rule_id}
        empty={
          data === undefined ? (
            <p className="muted">Loading …</p>
          ) : (
            <EmptyState
              title="There is no alert rule yet."
              command={'service alerts add secrets-blocked --name "Secrets were blocked" --tag secret'}
            >
              Without a rule no alert is raised. A rule counts events and fires at a threshold.
            </EmptyState>
          )
        }
      >
        {may_save ? (
          <button
            type="button"
            className="button primary small"
            onClick={() => setDialog({ kind: 'edit', rule: null })}
          >
            Add a rule
          </button>
        ) : null}
      </DataTable>
      {dialog?.kind === 'edit' ? (
        <AlertRuleDialog rule={dialog.rule} channels={data?.channels ?? []} onClose={close} />
      ) : null}
      {dialog?.kind === 'remove' && dialog.rule !== null ? (
        <RemoveDialog rule={dialog.rule} onClose={close} />
      ) : null}
    </>
  );
}

interface ActionResultProps {
  readonly tested: OperationOutput<'alertsTest'> | undefined;
  readonly tried: OperationOutput<'alertsEvaluate'> | undefined;
  readonly rule_id: string | undefined;
}

function ActionResult({ tested, tried, rule_id }: ActionResultProps) {
  if (tested !== undefined)
    return (
      <p className="note good" role="status">
        A test message of {tested.rule_id} is queued for{' '}
        <SafeText text={tested.deliveries.map(({ channel }) => channel).join(', ')} />. The part Deliveries
        shows what comes of it.
      </p>
    );
  if (tried === undefined) return null;
  const { triggered_count: count, events_evaluated: events, window } = tried;
  return (
    <p className="note" role="status">
      {rule_id} would have raised {count === 1 ? 'one alert' : `${count} alerts`} in the last {window}, on{' '}
      {events} recorded events{tried.truncated ? ' (the newest of them)' : ''}. Nothing was sent.
    </p>
  );
}

function buildColumns(actions: RuleActions): readonly DataColumn<AlertRuleEntry>[] {
  return [
    {
      id: 'name',
      title: 'Rule',
      value: ({ name }) => name,
      render: ({ name }) => <SafeText text={name} />,
      width: 220,
    },
    { id: 'rule_id', title: 'ID', value: ({ rule_id }) => rule_id, width: 160, is_wide_only: true },
    {
      id: 'state',
      title: 'State',
      value: ({ enabled, problem }) => (problem !== null ? 'not evaluated' : enabled ? 'active' : 'off'),
      render: (rule) => <RuleState rule={rule} />,
      width: 130,
    },
    {
      id: 'severity',
      title: 'Severity',
      value: ({ severity }) => severity,
      render: ({ severity }) => <Badge value={severity} />,
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
      value: ({ threshold }) => threshold,
      render: ({ threshold, window }) => `${threshold} in ${window}`,
      width: 100,
      is_wide_only: true,
    },
    {
      id: 'channels',
      title: 'Channels',
      value: ({ channels }) => channels.join(', '),
      render: ({ channels }) => <SafeText text={channels.join(', ')} />,
      is_wide_only: true,
    },
    {
      id: 'open_alerts',
      title: 'Open alerts',
      value: ({ open_alerts }) => open_alerts,
      width: 100,
      is_number: true,
      is_wide_only: true,
    },
    {
      id: 'change',
      title: 'Change',
      value: () => '',
      width: 260,
      render: (rule) => <RuleButtons rule={rule} actions={actions} />,
    },
  ];
}

function RuleState({ rule }: { readonly rule: AlertRuleEntry }) {
  if (rule.problem !== null)
    return (
      <span className="bad-figure" title={revealHidden(rule.problem)}>
        not evaluated
      </span>
    );
  return rule.enabled ? <Badge value="active" /> : <span className="muted">off</span>;
}

function RuleButtons({ rule, actions }: { readonly rule: AlertRuleEntry; readonly actions: RuleActions }) {
  const { onTry, onTest, onOpen, is_busy } = actions;
  const is_own = rule.origin === 'api';
  return (
    <span className="row-buttons">
      <button type="button" className="button small" disabled={is_busy} onClick={() => onTry(rule.rule_id)}>
        Try
      </button>
      {onTest === null ? null : (
        <button
          type="button"
          className="button small"
          disabled={is_busy}
          onClick={() => onTest(rule.rule_id)}
        >
          Test
        </button>
      )}
      {onOpen === null ? null : is_own ? (
        <>
          <button type="button" className="button small" onClick={() => onOpen({ kind: 'edit', rule })}>
            Edit
          </button>
          <button
            type="button"
            className="button danger small"
            onClick={() => onOpen({ kind: 'remove', rule })}
          >
            Remove
          </button>
        </>
      ) : (
        <span className="muted">configuration</span>
      )}
    </span>
  );
}

function RemoveDialog({ rule, onClose }: { readonly rule: AlertRuleEntry; readonly onClose: () => void }) {
  const remove = useOperationCall('alertRulesRemove', ['alertRulesList']);
  return (
    <ConfirmDialog
      title={`Remove ${rule.rule_id}?`}
      action="Remove rule"
      is_dangerous
      is_busy={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ rule_id: rule.rule_id }, { onSuccess: onClose })}
    >
      <p>
        <SafeText text={rule.name} /> raises no more alerts. Its open alerts remain until they are resolved.
      </p>
    </ConfirmDialog>
  );
}
