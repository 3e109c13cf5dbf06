import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperationCall } from '../../api/use-operation.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { CallDialog } from '../../components/call-dialog.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/page-header.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { Time } from '../../components/time.tsx';
import { AlertRuleDialog, type AlertRuleEntry } from './alert-rule-dialog.tsx';
import { SilenceDialog } from './silence-dialog.tsx';

interface AlertRuleDetailsProps {
  readonly rule: AlertRuleEntry;
  readonly channels: OperationOutput<'alertRulesList'>['channels'];
  readonly onClose: () => void;
}

/** One rule: what it counts, whom it notifies, and the buttons that try, test and change it. */
export function AlertRuleDetails({ rule, channels, onClose }: AlertRuleDetailsProps) {
  return (
    <Panel
      title="Alert rule"
      aside={
        <Button look="quiet" is_small onClick={onClose}>
          Close
        </Button>
      }
    >
      <div className="stack">
        {rule.problem === null ? null : (
          <p className="note bad" role="status">
            The rule is not evaluated: <SafeText text={rule.problem} />
          </p>
        )}
        <RuleFacts rule={rule} />
        <RuleButtons rule={rule} channels={channels} onClose={onClose} />
      </div>
    </Panel>
  );
}

function RuleFacts({ rule }: { readonly rule: AlertRuleEntry }) {
  const filters = Object.entries(rule.filters).filter(([, values]) => values.length > 0);
  return (
    <dl className="facts">
      <dt>Rule</dt>
      <dd>
        <SafeText text={rule.name} /> <span className="muted">{rule.rule_id}</span>
      </dd>
      <dt>Severity</dt>
      <dd>
        <Badge value={rule.severity} />
      </dd>
      <dt>Fires at</dt>
      <dd>
        {rule.threshold} in {rule.window}, of {rule.source.replaceAll('_', ' ')}
        {rule.after === null ? '' : `, after ${rule.after}`}; not again for {rule.cooldown}
      </dd>
      <dt>Filters</dt>
      <dd>
        {filters.length === 0 ? <span className="muted">none</span> : null}
        {filters.map(([name, values]) => (
          <span key={name} className="block">
            <span className="muted">{name}</span> <SafeText text={values.join(', ')} />
          </span>
        ))}
      </dd>
      <dt>Groups</dt>
      <dd>{rule.group_by.length === 0 ? 'all together' : `for each ${rule.group_by.join(', ')}`}</dd>
      <dt>Channels</dt>
      <dd>
        <SafeText text={rule.channels.join(', ')} />
      </dd>
      <dt>Quiet hours</dt>
      <dd>
        {rule.schedule === null
          ? 'none'
          : rule.schedule.quiet_hours
              .map(
                ({ days, from, to }) => `${days === undefined ? '' : `${days.join(' ')} `}${from} to ${to}`,
              )
              .concat(rule.schedule.time_zone)
              .join(', ')}
      </dd>
      <dt>Tenant</dt>
      <dd>{rule.tenant_id === null ? 'all' : <SafeText text={rule.tenant_id} />}</dd>
      <dt>Changed</dt>
      <dd>
        {rule.origin === 'configuration' ? (
          <>
            in <code>alerts.rules</code> of the configuration
          </>
        ) : (
          <>
            <SafeText text={rule.changed_by ?? rule.created_by} />,{' '}
            <Time at={rule.changed_at ?? rule.created_at} />
          </>
        )}
      </dd>
    </dl>
  );
}

function RuleButtons({ rule, channels, onClose }: AlertRuleDetailsProps) {
  const mayCall = useMayCall();
  const test = useOperationCall('alertsTest', ['alertsDeliveries']);
  const evaluate = useOperationCall('alertsEvaluate', []);
  const [dialog, setDialog] = useState<'edit' | 'remove' | 'silence' | null>(null);
  const { rule_id } = rule;
  const isBusy = test.isPending || evaluate.isPending;
  const mayChange = rule.origin === 'api' && mayCall('alertRulesSave');
  const error = test.error ?? evaluate.error;
  return (
    <div className="stack">
      <ErrorNote error={error} />
      <ActionResult tested={test.data} tried={evaluate.data} />
      <span className="row-buttons">
        <Button
          is_small
          disabled={isBusy}
          onClick={() => {
            test.reset();
            evaluate.mutate({ rule_id, last: '24h' });
          }}
        >
          Try on the last 24 h
        </Button>
        {mayCall('alertsTest') ? (
          <Button
            is_small
            disabled={isBusy}
            onClick={() => {
              evaluate.reset();
              test.mutate({ rule_id });
            }}
          >
            Send a test message
          </Button>
        ) : null}
        {mayCall('alertSilencesAdd') ? (
          <Button is_small onClick={() => setDialog('silence')}>
            Silence …
          </Button>
        ) : null}
        {mayChange ? (
          <>
            <Button is_small onClick={() => setDialog('edit')}>
              Edit …
            </Button>
            <Button look="danger" is_small onClick={() => setDialog('remove')}>
              Remove …
            </Button>
          </>
        ) : null}
      </span>
      {dialog === 'edit' ? (
        <AlertRuleDialog rule={rule} channels={channels} onClose={() => setDialog(null)} />
      ) : null}
      {dialog === 'silence' ? <SilenceDialog rule_id={rule_id} onClose={() => setDialog(null)} /> : null}
      {dialog === 'remove' ? (
        <RemoveDialog rule={rule} onClose={() => setDialog(null)} onRemoved={onClose} />
      ) : null}
    </div>
  );
}

interface ActionResultProps {
  readonly tested: OperationOutput<'alertsTest'> | undefined;
  readonly tried: OperationOutput<'alertsEvaluate'> | undefined;
}

function ActionResult({ tested, tried }: ActionResultProps) {
  if (tested !== undefined)
    return (
      <p className="note good" role="status">
        A test message is queued for{' '}
        <SafeText text={tested.deliveries.map(({ channel }) => channel).join(', ')} />. The part Deliveries
        shows what comes of it.
      </p>
    );
  if (tried === undefined) return null;
  const { triggered_count: count, events_evaluated: events, window } = tried;
  return (
    <p className="note" role="status">
      The rule would have raised {count === 1 ? 'one alert' : `${count} alerts`} in the last {window}, on{' '}
      {events} recorded events{tried.truncated ? ' (the newest of them)' : ''}. Nothing was sent.
    </p>
  );
}

interface RemoveDialogProps {
  readonly rule: AlertRuleEntry;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}

function RemoveDialog({ rule, onClose, onRemoved }: RemoveDialogProps) {
  const remove = useOperationCall('alertRulesRemove', ['alertRulesList']);
  return (
    <CallDialog
      title={`Remove ${rule.rule_id}?`}
      action="Remove rule"
      is_dangerous
      call={remove}
      input={{ rule_id: rule.rule_id }}
      onDone={onRemoved}
      onClose={onClose}
    >
      <p>
        <SafeText text={rule.name} /> raises no more alerts. Its open alerts remain until they are resolved.
      </p>
    </CallDialog>
  );
}
