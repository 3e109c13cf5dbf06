import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import { CallDialog } from '../../components/call-dialog.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useAddressQuery } from '../../components/filter-chips.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { TextField } from '../../components/text-field.tsx';
import { TenantPolicies } from './tenant-policies.tsx';

type Tenant = OperationOutput<'tenantsList'>['tenants'][number];

const COLUMNS: readonly DataColumn<Tenant>[] = [
  {
    id: 'tenant_id',
    title: 'Tenant',
  },
  { id: 'name', title: 'Name' },
  {
    id: 'rules_active',
    title: 'Rules',
    is_number: true,
    width: 90,
  },
  { id: 'version', title: 'Saved version', is_number: true, width: 120 },
  {
    id: 'created_by',
    title: 'Created by',
    render: ({ created_by }) => (created_by === null ? 'the configuration' : <SafeText text={created_by} />),
    is_wide_only: true,
  },
  {
    id: 'created_at',
    title: 'Created',
    form: 'time',
    is_wide_only: true,
  },
];

/** The tenants, and below the table the policies of the one that was opened. */
export function TenantsPanel() {
  const { data, error } = useOperation('tenantsList', { limit: 1_000 });
  const [query, change] = useAddressQuery();
  const mayCall = useMayCall();
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <DataTable
        name="tenants"
        error={error}
        label="Tenants"
        columns={COLUMNS}
        rows={data?.tenants}
        rowKey={({ tenant_id }) => tenant_id}
        onOpen={({ tenant_id }) => change({ tenant: tenant_id })}
        empty={<EmptyState title="There is no tenant yet." command="customshouse tenants create acme" />}
      >
        {mayCall('tenantsCreate') ? (
          <Button look="primary" is_small onClick={() => setAdding(true)}>
            Create a tenant
          </Button>
        ) : null}
      </DataTable>
      {query.tenant === undefined ? null : <TenantPolicies key={query.tenant} tenant_id={query.tenant} />}
      {isAdding ? <CreateDialog onClose={() => setAdding(false)} /> : null}
    </>
  );
}

function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const call = useOperationCall('tenantsCreate', ['tenantsList']);
  const [tenantId, setTenant] = useState('');
  const [name, setName] = useState('');
  return (
    <CallDialog
      title="Create a tenant"
      action="Create tenant"
      onClose={onClose}
      call={call}
      input={{ tenant_id: tenantId, ...(name === '' ? {} : { name }) }}
    >
      <TextField
        label="ID: letters, digits and . _ -"
        required
        maxLength={128}
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
        value={tenantId}
        onChange={setTenant}
      />
      <TextField label="Name, for people" maxLength={256} value={name} onChange={setName} />
    </CallDialog>
  );
}
