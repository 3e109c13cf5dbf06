import { stringify } from 'yaml';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall, useSession } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { CodeBlock } from '../../components/code-block.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { useAddressQuery } from '../../components/filter-chips.tsx';
import { type OfferedChange, PartPanel } from './part-panel.tsx';

type Template = OperationOutput<'policyTemplates'>['templates'][number];

const COLUMNS: readonly DataColumn<Template>[] = [
  {
    id: 'name',
    title: 'Template',
    width: 180,
  },
  {
    id: 'source',
    title: 'From',
    render: ({ source }) => (source === 'builtin' ? 'the service' : 'a plug-in'),
    width: 110,
  },
  {
    id: 'description',
    title: 'What it does',
    width: 600,
  },
];

/** The policy templates: shows their documents, and installs one into the policy document or removes it. */
export function TemplatesPanel() {
  const { data, error } = useOperation('policyTemplates', {});
  const [query, change] = useAddressQuery();
  return (
    <>
      <DataTable
        name="templates"
        error={error}
        label="Policy templates"
        columns={COLUMNS}
        rows={data?.templates}
        rowKey={({ name }) => name}
        onOpen={({ name }) => change({ template: name })}
        empty={<p className="muted">There are no templates.</p>}
      />
      {query.template === undefined ? null : <TemplatePanel key={query.template} name={query.template} />}
    </>
  );
}

function TemplatePanel({ name }: { readonly name: string }) {
  const { data, error } = useOperation('policyTemplate', { template_name: name });
  const offered = useOfferedChange(name);
  const change = { ...offered, can_change: offered.can_change && data !== undefined };
  return (
    <PartPanel noun="template" name={name} change={change} error={error}>
      {data === undefined ? null : <CodeBlock text={stringify(data)} label={`Document of ${name}`} />}
    </PartPanel>
  );
}

const CHANGED = ['policyDocumentShow', 'policyVersionsList', 'dashboardRules', 'skillsList'] as const;

/** Returns the change that the button offers, and whether the user may make it. */
function useOfferedChange(name: string): OfferedChange {
  const mayCall = useMayCall();
  const { tenants } = useSession();
  const seesDocument = tenants.includes('*');
  const { data } = useOperation('policyDocumentShow', {}, { enabled: seesDocument });
  const calls = {
    Install: useOperationCall('dashboardTemplateInstall', CHANGED),
    Remove: useOperationCall('dashboardTemplateRemove', CHANGED),
  };
  const isInstalled = data?.text.includes(`\n# Template ${name} ends\n`) === true;
  const verb = isInstalled ? 'Remove' : 'Install';
  const operation = isInstalled ? 'dashboardTemplateRemove' : 'dashboardTemplateInstall';
  return { verb, calls, can_change: mayCall(operation) && seesDocument && data !== undefined };
}
