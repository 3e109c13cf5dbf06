import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { CallDialog, type DialogCall } from './call-dialog.tsx';
import type { DataColumn } from './data-column.ts';
import { DataTable } from './data-table.tsx';
import { Panel } from './page-header.tsx';
import { SafeText } from './safe-text.tsx';
import { useWeakerConfirmation, WhyField } from './weaker-confirmation.tsx';

/** A saved version, as the history lists it. */
interface SavedVersion {
  readonly version: number;
  readonly created_by: string;
  readonly created_at: string;
  readonly note: string;
  readonly restored_from?: number | null;
}

/** The input that restores a version, without the name of the versioned document. */
interface RestoreInput {
  readonly version: number;
  readonly note?: string;
  readonly confirm_weaker?: true;
}

interface VersionHistoryProps<Version extends SavedVersion, Input, Output> {
  readonly name: string;
  readonly label: string;
  readonly versions: readonly Version[] | undefined;
  readonly error: unknown;
  readonly current: number | null;
  /** Columns after the version number. */
  readonly columns?: readonly DataColumn<Version>[];
  /** Shown while nothing was saved. */
  readonly empty: ReactNode;
  /** Shows what a version changed. */
  readonly renderChange: (version: number) => ReactNode;
  readonly can_restore: boolean;
  readonly restore: DialogCall<Input, Output>;
  readonly buildInput: (restored: RestoreInput) => Input;
}

/** A document's versions. Each can be compared with the one before it, and restored. */
export function VersionHistory<Version extends SavedVersion, Input, Output>(
  props: VersionHistoryProps<Version, Input, Output>,
) {
  const [compared, setCompared] = useState<number | null>(null);
  const [restored, setRestored] = useState<number | null>(null);
  const columns: readonly DataColumn<Version>[] = [
    { id: 'version', title: 'Version', value: ({ version }) => version, is_number: true, width: 80 },
    ...(props.columns ?? []),
    { id: 'created_by', title: 'By', value: ({ created_by }) => created_by },
    { id: 'created_at', title: 'When', value: ({ created_at }) => created_at, form: 'time' },
    {
      id: 'note',
      title: 'Why',
      value: ({ note }) => note,
      render: ({ note, restored_from = null }) => (
        <>
          {restored_from === null ? null : <span className="muted">version {restored_from} again; </span>}
          <SafeText text={note} />
        </>
      ),
      width: 300,
    },
    {
      id: 'change',
      title: 'Compare, restore',
      value: () => '',
      width: 200,
      render: ({ version }) => (
        <span className="row-buttons">
          <Button is_small onClick={() => setCompared(version)}>
            Compare
          </Button>
          {version !== props.current && props.can_restore ? (
            <Button is_small onClick={() => setRestored(version)}>
              Restore
            </Button>
          ) : null}
        </span>
      ),
    },
  ];
  return (
    <Panel title="History">
      <DataTable
        name={props.name}
        label={props.label}
        columns={columns}
        rows={props.versions}
        error={props.error}
        rowKey={({ version }) => String(version)}
        empty={props.empty}
      />
      {compared === null ? null : props.renderChange(compared)}
      {restored === null ? null : (
        <RestoreDialog
          version={restored}
          call={props.restore}
          buildInput={props.buildInput}
          onClose={() => setRestored(null)}
        />
      )}
    </Panel>
  );
}

interface RestoreDialogProps<Input, Output> {
  readonly version: number;
  readonly call: DialogCall<Input, Output>;
  readonly buildInput: (restored: RestoreInput) => Input;
  readonly onClose: () => void;
}

function RestoreDialog<Input, Output>({
  version,
  call,
  buildInput,
  onClose,
}: RestoreDialogProps<Input, Output>) {
  const weaker = useWeakerConfirmation(call.error);
  const [note, setNote] = useState('');
  return (
    <CallDialog
      title={`Restore version ${version}`}
      action="Restore version"
      call={call}
      input={buildInput({ version, ...(note === '' ? {} : { note }), ...weaker.input })}
      onClose={onClose}
    >
      <p>It becomes the next version, which all workers use at once. The history stays as it is.</p>
      {weaker.field}
      <WhyField value={note} is_required={weaker.is_asked} onChange={setNote} />
    </CallDialog>
  );
}
