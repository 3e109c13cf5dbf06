import type { OperationInput, OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { FilterChips, type FilterField, useAddressQuery } from '../../components/filter-chips.tsx';

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
  const send = (deliveryId: string) => resend.mutate({ delivery_id: deliveryId });
  const rows = data?.deliveries ?? [];
  const dead = rows.filter((each) => each.status === 'dead').length;
  return (
    <>
      <ErrorNote error={error} />
      <ErrorNote error={resend.error} />
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
        rows={data && rows}
        rowKey={({ delivery_id }) => delivery_id}
        has_more={data !== undefined && data.next_cursor !== null}
        empty={
          <EmptyState
            title={status === undefined ? 'No message was sent yet.' : `No message is ${status}.`}
            command="customshouse alerts test secrets-blocked"
          >
            An alert sends a message to each channel of its rule. This command sends a test message of a rule.
          </EmptyState>
        }
      >
        <FilterChips fields={FILTERS} />
      </DataTable>
    </>
  );
}

function buildColumns(
  onSend: ((deliveryId: string) => void) | null,
  isBusy: boolean,
): readonly DataColumn<Delivery>[] {
  return [
    {
      id: 'status',
      title: 'Status',
      form: 'badge',
      width: 110,
    },
    {
      id: 'channel',
      title: 'Channel',
    },
    { id: 'kind', title: 'Kind', width: 90, is_wide_only: true },
    {
      id: 'subject_id',
      title: 'About',
      width: 200,
      is_wide_only: true,
    },
    {
      id: 'attempts',
      title: 'Attempts',
      width: 85,
      is_number: true,
      is_wide_only: true,
    },
    {
      id: 'reason',
      title: 'Last failure',
      width: 240,
      is_wide_only: true,
    },
    {
      id: 'created_at',
      title: 'Queued',
      form: 'time',
      width: 90,
      is_wide_only: true,
    },
    {
      id: 'next_attempt_at',
      title: 'Next attempt',
      form: 'time',
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
          <Button is_small disabled={isBusy} onClick={() => onSend(delivery_id)}>
            Send again
          </Button>
        ),
    },
    { id: 'delivery_id', title: 'ID', is_extra: true, width: 280 },
  ];
}
