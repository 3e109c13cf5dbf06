import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/page-header.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { Time } from '../../components/time.tsx';
import { type AlertEntry, GroupValues } from './alert-fields.tsx';
import { SilenceDialog } from './silence-dialog.tsx';

const CHANGES = ['alertsHistory', 'alertsShow', 'alertsDeliveries', 'alertRulesList'] as const;

interface AlertDetailsProps {
  readonly alert_id: string;
  readonly onClose: () => void;
}

/** One alert: its counts, its events and its messages, and the buttons that change it. */
export function AlertDetails({ alert_id, onClose }: AlertDetailsProps) {
  const { data: alert, error } = useOperation('alertsShow', { alert_id }, { refresh_ms: 5_000 });
  return (
    <Panel
      title="Alert"
      aside={
        <Button look="quiet" is_small onClick={onClose}>
          Close
        </Button>
      }
    >
      <ErrorNote error={error} />
      {alert === undefined ? null : (
        <div className="stack">
          <AlertFacts alert={alert} />
          <AlertButtons alert={alert} />
          <MessageList deliveries={alert.deliveries} />
        </div>
      )}
    </Panel>
  );
}

function AlertFacts({ alert }: { readonly alert: AlertEntry }) {
  return (
    <dl className="facts">
      <dt>Rule</dt>
      <dd>
        <SafeText text={alert.rule_name} /> <span className="muted">{alert.rule_id}</span>
      </dd>
      <dt>Status</dt>
      <dd>
        <Badge value={alert.severity} /> <Badge value={alert.status} />
      </dd>
      <dt>Counted</dt>
      <dd>
        {alert.count} {alert.count === 1 ? 'event' : 'events'}; it fires at {alert.threshold} in{' '}
        {alert.window}
      </dd>
      <dt>Group</dt>
      <dd>
        <GroupValues group={alert.group} />
      </dd>
      <dt>Tenants</dt>
      <dd>
        <SafeText text={alert.tenant_ids.join(', ')} />
      </dd>
      <dt>Fired</dt>
      <dd>
        <Time at={alert.fired_at} />, last event <Time at={alert.last_at} />
      </dd>
      {alert.acknowledged_by === null ? null : (
        <>
          <dt>Acknowledged</dt>
          <dd>
            <SafeText text={alert.acknowledged_by} />, <Time at={alert.acknowledged_at} />
          </dd>
        </>
      )}
      {alert.resolved_by === null ? null : (
        <>
          <dt>Resolved</dt>
          <dd>
            <SafeText text={alert.resolved_by} />, <Time at={alert.resolved_at} />
          </dd>
        </>
      )}
      <dt>Sample events</dt>
      <dd>
        {alert.sample_event_ids.length === 0 ? <span className="muted">–</span> : null}
        {alert.sample_event_ids.slice(0, 5).map((eventId) => (
          <span key={eventId} className="block">
            <Link to="/incidents/$event_id" params={{ event_id: eventId }} search={{}}>
              {eventId}
            </Link>
          </span>
        ))}
      </dd>
    </dl>
  );
}

function AlertButtons({ alert }: { readonly alert: AlertEntry }) {
  const mayCall = useMayCall();
  const acknowledge = useOperationCall('alertsAcknowledge', CHANGES);
  const resolve = useOperationCall('alertsResolve', CHANGES);
  const [isSilencing, setSilencing] = useState(false);
  const { alert_id, status } = alert;
  const isBusy = acknowledge.isPending || resolve.isPending;
  const error = acknowledge.error ?? resolve.error;
  if (!mayCall('alertsResolve')) return null;
  return (
    <div className="stack">
      <ErrorNote error={error} />
      <span className="row-buttons">
        {status === 'firing' ? (
          <Button look="primary" is_small disabled={isBusy} onClick={() => acknowledge.mutate({ alert_id })}>
            Acknowledge
          </Button>
        ) : null}
        {status === 'resolved' ? null : (
          <Button is_small disabled={isBusy} onClick={() => resolve.mutate({ alert_id })}>
            Resolve
          </Button>
        )}
        {mayCall('alertSilencesAdd') ? (
          <Button is_small onClick={() => setSilencing(true)}>
            Silence …
          </Button>
        ) : null}
      </span>
      {isSilencing ? <SilenceDialog rule_id={alert.rule_id} onClose={() => setSilencing(false)} /> : null}
    </div>
  );
}

function MessageList({ deliveries }: Pick<AlertEntry, 'deliveries'>) {
  if (deliveries.length === 0) return <p className="muted">No message was sent for this alert.</p>;
  return (
    <ul className="rows" aria-label="Messages of this alert">
      {deliveries.map((each) => (
        <li key={each.delivery_id}>
          <Badge value={each.status} />
          <span className="row-main">
            {each.kind} to <SafeText text={each.channel} />
            {each.reason === null ? null : (
              <span className="muted">
                {' '}
                · <SafeText text={each.reason} />
              </span>
            )}
          </span>
          <Time at={each.finished_at ?? each.created_at} />
        </li>
      ))}
    </ul>
  );
}
