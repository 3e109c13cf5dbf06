import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Badge } from '../../components/badge.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { Time } from '../../components/time.tsx';
import { SilenceDialog } from './silence-dialog.tsx';

type Silence = OperationOutput<'alertSilencesList'>['silences'][number];

/** Silences: the alerts that send no message for a time. */
export function SilencesPanel() {
  const { data, error } = useOperation('alertSilencesList', { limit: 500 }, { refresh_ms: 15_000 });
  const mayCall = useMayCall();
  const [is_adding, setAdding] = useState(false);
  const [ending, setEnding] = useState<Silence | null>(null);
  return (
    <>
      {error === null ? null : <ErrorNote error={error} />}
      <DataTable
        name="silences"
        label="Silences"
        columns={buildColumns(mayCall('alertSilencesRemove') ? setEnding : null)}
        rows={data?.silences ?? []}
        rowKey={({ silence_id }) => silence_id}
        empty={
          data === undefined ? (
            <p className="muted">Loading …</p>
          ) : (
            <EmptyState
              title="Nothing is silenced."
              command={
                'customshouse alerts silence --rule-id secrets-blocked --expires-in 2h --reason "Load test"'
              }
            >
              A silence keeps messages back during a test or a known fault. Alerts are recorded meanwhile.
            </EmptyState>
          )
        }
      >
        {mayCall('alertSilencesAdd') ? (
          <button type="button" className="button primary small" onClick={() => setAdding(true)}>
            Silence alerts
          </button>
        ) : null}
      </DataTable>
      {is_adding ? <SilenceDialog onClose={() => setAdding(false)} /> : null}
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
      render: ({ matcher }) => <SafeText text={describeMatcher(matcher)} />,
      width: 150,
    },
    {
      id: 'reason',
      title: 'Reason',
      value: ({ reason }) => reason,
      render: ({ reason }) => <SafeText text={reason} />,
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
      value: ({ created_by }) => created_by,
      render: ({ created_by }) => <SafeText text={created_by} />,
      is_wide_only: true,
    },
    {
      id: 'expires_at',
      title: 'Ends',
      value: ({ expires_at }) => expires_at,
      render: ({ expires_at }) => <Time at={expires_at} />,
      width: 85,
    },
    {
      id: 'change',
      title: 'Change',
      value: () => '',
      width: 70,
      render: (silence) =>
        onEnd === null || silence.expired ? null : (
          <button type="button" className="button danger small" onClick={() => onEnd(silence)}>
            End
          </button>
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
    <ConfirmDialog
      title="End this silence?"
      action="End silence"
      is_dangerous
      is_busy={end.isPending}
      error={end.error}
      onClose={onClose}
      onConfirm={() => end.mutate({ silence_id: silence.silence_id }, { onSuccess: onClose })}
    >
      <p>
        Messages for <SafeText text={describeMatcher(silence.matcher)} /> are sent again from the next event
        on.
      </p>
    </ConfirmDialog>
  );
}
