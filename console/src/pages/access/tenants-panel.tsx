import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { useAddressQuery } from '../../components/filter-chips.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { Time } from '../../components/time.tsx';
import { TenantPolicies } from './tenant-policies.tsx';

type Tenant = OperationOutput<'tenantsList'>['tenants'][number];

const COLUMNS: readonly DataColumn<Tenant>[] = [
  {
    id: 'tenant_id',
    title: 'Tenant',
    value: ({ tenant_id }) => tenant_id,
    render: ({ tenant_id }) => <SafeText text={tenant_id} />,
  },
  { id: 'name', title: 'Name', value: ({ name }) => name, render: ({ name }) => <SafeText text={name} /> },
  {
    id: 'rules_active',
    title: 'Rules',
    value: ({ rules_active }) => rules_active,
    is_number: true,
    width: 90,
  },
  { id: 'version', title: 'Saved version', value: ({ version }) => version, is_number: true, width: 120 },
  {
    id: 'created_by',
    title: 'Created by',
    value: ({ created_by }) => created_by,
    render: ({ created_by }) => (created_by === null ? 'the configuration' : <SafeText text={created_by} />),
    is_wide_only: true,
  },
  {
    id: 'created_at',
    title: 'Created',
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Time at={created_at} />,
    is_wide_only: true,
  },
];

/** The tenants, and below the table the policies of the one that was opened. */
export function TenantsPanel() {
  const { data, error } = useOperation('tenantsList', { limit: 1_000 });
  const [query, change] = useAddressQuery();
  const mayCall = useMayCall();
  const [is_adding, setAdding] = useState(false);
  return (
    <>
      {error === null ? null : <ErrorNote error={error} />}
      <DataTable
        name="tenants"
        label="Tenants"
        columns={COLUMNS}
        rows={data?.tenants ?? []}
        rowKey={({ tenant_id }) => tenant_id}
        onOpen={({ tenant_id }) => change({ tenant: tenant_id })}
        empty={
          data === undefined ? (
            <p className="muted">Loading …</p>
          ) : (
            <EmptyState title="There is no tenant yet." command="customshouse tenants create acme" />
          )
        }
      >
        {mayCall('tenantsCreate') ? (
          <button type="button" className="button primary small" onClick={() => setAdding(true)}>
            Create a tenant
          </button>
        ) : null}
      </DataTable>
      {query.tenant === undefined ? null : <TenantPolicies key={query.tenant} tenant_id={query.tenant} />}
      {is_adding ? <CreateDialog onClose={() => setAdding(false)} /> : null}
    </>
  );
}

function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const call = useOperationCall('tenantsCreate', ['tenantsList']);
  const [tenant_id, setTenant] = useState('');
  const [name, setName] = useState('');
  return (
    <ConfirmDialog
      title="Create a tenant"
      action="Create tenant"
      is_busy={call.isPending}
      error={call.error}
      onClose={onClose}
      onConfirm={() => call.mutate({ tenant_id, ...(name === '' ? {} : { name }) }, { onSuccess: onClose })}
    >
      <label className="field">
        <span>ID: letters, digits and . _ -</span>
        <input
          className="input"
          required
          spellCheck={false}
          maxLength={128}
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
          value={tenant_id}
          onChange={(event) => setTenant(event.currentTarget.value)}
        />
      </label>
      <label className="field">
        <span>Name, for people</span>
        <input
          className="input"
          maxLength={256}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </label>
    </ConfirmDialog>
  );
}
