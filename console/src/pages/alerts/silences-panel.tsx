import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { CallDialog } from '../../components/call-dialog.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { SilenceDialog } from './silence-dialog.tsx';

type Silence = OperationOutput<'alertSilencesList'>['silences'][number];

/** Silences: the alerts that send no message for a time. */
export function SilencesPanel() {
  const { data, error } = useOperation('alertSilencesList', { limit: 500 }, { refresh_ms: 15_000 });
  const mayCall = useMayCall();
  const [isAdding, setAdding] = useState(false);
  const [ending, setEnding] = useState<Silence | null>(null);
  return (
    <>
      <DataTable
        name="silences"
        error={error}
        label="Silences"
        columns={buildColumns(mayCall('alertSilencesRemove') ? setEnding : null)}
        rows={data?.silences}
        rowKey={({ silence_id }) => silence_id}
        empty={
          <EmptyState
            title="Nothing is silenced."
            command={
              'customshouse alerts silence --rule-id secrets-blocked --expires-in 2h --reason "Load test"'
            }
          >
            A silence keeps messages back during a test or a known fault. Alerts are recorded meanwhile.
          </EmptyState>
        }
      >
        {mayCall('alertSilencesAdd') ? (
          <Button look="primary" is_small onClick={() => setAdding(true)}>
            Silence alerts
          </Button>
        ) : null}
      </DataTable>
      {isAdding ? <SilenceDialog onClose={() => setAdding(false)} /> : null}
      {ending === null ? null : <EndDialog silence={ending} onClose={() => setEnding(null)} />}
    </>
  );
}

function buildColumns(onEnd: ((silence: Silence) => void) | null): readonly DataColumn<Silence>[] {
  return [
    {
      id: 'status',
      title: 'Status',
      value: ({ expired }) => (expired ? 'expired' : 'active'),
      render: ({ expired }) => <Badge value={expired ? 'expired' : 'active'} />,
      width: 90,
      is_wide_only: true,
    },
    {
      id: 'matches',
      title: 'Silences',
      value: ({ matcher }) => describeMatcher(matcher),
      width: 150,
    },
    {
      id: 'reason',
      title: 'Reason',
      width: 240,
      is_wide_only: true,
    },
    {
      id: 'tenant_id',
      title: 'Tenant',
      value: ({ tenant_id }) => tenant_id ?? 'all',
      render: ({ tenant_id }) => (tenant_id === null ? 'all' : <SafeText text={tenant_id} />),
      is_wide_only: true,
    },
    {
      id: 'created_by',
      title: 'By',
      is_wide_only: true,
    },
    {
      id: 'expires_at',
      title: 'Ends',
      form: 'time',
      width: 85,
    },
    {
      id: 'change',
      title: 'Change',
      value: () => '',
      width: 70,
      render: (silence) =>
        onEnd === null || silence.expired ? null : (
          <Button look="danger" is_small onClick={() => onEnd(silence)}>
            End
          </Button>
        ),
    },
  ];
}

function describeMatcher({ rule_id, severity, group }: Silence['matcher']): string {
  const parts = [
    ...(rule_id === undefined ? [] : [`rule ${rule_id}`]),
    ...(severity === undefined ? [] : [`severity ${severity}`]),
    ...Object.entries(group ?? {}).map(([field, value]) => `${field} ${value}`),
  ];
  return parts.length === 0 ? 'all alerts' : parts.join(', ');
}

function EndDialog({ silence, onClose }: { readonly silence: Silence; readonly onClose: () => void }) {
  const end = useOperationCall('alertSilencesRemove', ['alertSilencesList', 'alertsHistory']);
  return (
    <CallDialog
      title="End this silence?"
      action="End silence"
      is_dangerous
      onClose={onClose}
      call={end}
      input={{ silence_id: silence.silence_id }}
    >
      <p>
        Messages for <SafeText text={describeMatcher(silence.matcher)} /> are sent again from the next event
        on.
      </p>
    </CallDialog>
  );
}
