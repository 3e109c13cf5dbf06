import type { OperationInput, OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Badge } from '../../components/badge.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { FilterChips, type FilterField, useAddressQuery } from '../../components/filter-chips.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { Time } from '../../components/time.tsx';

type Delivery = OperationOutput<'alertsDeliveries'>['deliveries'][number];
type DeliveryStatus = NonNullable<OperationInput<'alertsDeliveries'>['status']>;

const STATUSES: readonly DeliveryStatus[] = ['pending', 'sent', 'dead', 'cancelled'];
const FILTERS: readonly FilterField[] = [
  { name: 'delivery', label: 'Status', options: STATUSES },
  { name: 'channel', label: 'Channel' },
];

/** Messages to channels, and the dead letters among them. */
export function DeliveriesPanel() {
  const [query] = useAddressQuery();
  const status = STATUSES.find((each) => each === query.delivery);
  const { data, error } = useOperation(
    'alertsDeliveries',
    {
      limit: 200,
      ...(status !== undefined && { status }),
      ...(query.channel !== undefined && { channel: query.channel }),
    },
    { refresh_ms: 5_000 },
  );
  const resend = useOperationCall('alertsResend', ['alertsDeliveries', 'alertsShow', 'alertsHistory']);
  const mayCall = useMayCall();
  const send = (delivery_id: string) => resend.mutate({ delivery_id });
  const rows = data?.deliveries ?? [];
  const dead = rows.filter((each) => each.status === 'dead').length;
  return (
    <>
      {error === null ? null : <ErrorNote error={error} />}
      {resend.error === null ? null : <ErrorNote error={resend.error} />}
      {dead === 0 ? null : (
        <p className="note bad" role="status">
          {dead === 1 ? 'One message was' : `${dead} messages were`} given up. Fix the channel, then send{' '}
          {dead === 1 ? 'it' : 'them'} again; a receiver recognises a repeated message by its ID.
        </p>
      )}
      <DataTable
        has_filters
        name="deliveries"
        label="Deliveries"
        columns={buildColumns(mayCall('alertsResend') ? send : null, resend.isPending)}
        rows={rows}
        rowKey={({ delivery_id }) => delivery_id}
        has_more={data !== undefined && data.next_cursor !== null}
        empty={
          data === undefined ? (
            <p className="muted">Loading …</p>
          ) : (
            <EmptyState
              title={status === undefined ? 'No message was sent yet.' : `No message is ${status}.`}
              command="customshouse alerts test secrets-blocked"
            >
              An alert sends a message to each channel of its rule. This command sends a test message of a
              rule.
            </EmptyState>
          )
        }
      >
        <FilterChips fields={FILTERS} />
      </DataTable>
    </>
  );
}

function buildColumns(
  onSend: ((delivery_id: string) => void) | null,
  is_busy: boolean,
): readonly DataColumn<Delivery>[] {
  return [
    {
      id: 'status',
      title: 'Status',
      value: ({ status }) => status,
      render: ({ status }) => <Badge value={status} />,
      width: 110,
    },
    {
      id: 'channel',
      title: 'Channel',
      value: ({ channel }) => channel,
      render: ({ channel }) => <SafeText text={channel} />,
    },
    { id: 'kind', title: 'Kind', value: ({ kind }) => kind, width: 90, is_wide_only: true },
    {
      id: 'subject_id',
      title: 'About',
      value: ({ subject_id }) => subject_id,
      render: ({ subject_id }) => <SafeText text={subject_id} />,
      width: 200,
      is_wide_only: true,
    },
    {
      id: 'attempts',
      title: 'Attempts',
      value: ({ attempts }) => attempts,
      width: 85,
      is_number: true,
      is_wide_only: true,
    },
    {
      id: 'reason',
      title: 'Last failure',
      value: ({ reason }) => reason,
      render: ({ reason }) => <SafeText text={reason} />,
      width: 240,
      is_wide_only: true,
    },
    {
      id: 'created_at',
      title: 'Queued',
      value: ({ created_at }) => created_at,
      render: ({ created_at }) => <Time at={created_at} />,
      width: 90,
      is_wide_only: true,
    },
    {
      id: 'next_attempt_at',
      title: 'Next attempt',
      value: ({ next_attempt_at }) => next_attempt_at,
      render: ({ next_attempt_at }) => <Time at={next_attempt_at} />,
      width: 105,
      is_wide_only: true,
    },
    {
      id: 'change',
      title: 'Change',
      value: () => '',
      width: 110,
      render: ({ delivery_id, status }) =>
        onSend === null || status !== 'dead' ? null : (
          <button
            type="button"
            className="button small"
            disabled={is_busy}
            onClick={() => onSend(delivery_id)}
          >
            Send again
          </button>
        ),
    },
    { id: 'delivery_id', title: 'ID', value: ({ delivery_id }) => delivery_id, is_extra: true, width: 280 },
  ];
}
