import { useState } from 'react';
import { stringify } from 'yaml';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall, useSession } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { CodeBlock } from '../../components/code-block.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { useAddressQuery } from '../../components/filter-chips.tsx';
import { Panel } from '../../components/page-header.tsx';
import { revealHidden, SafeText } from '../../components/safe-text.tsx';
import { type PartChange, PartDialog } from './part-dialog.tsx';

type Template = OperationOutput<'policyTemplates'>['templates'][number];

const COLUMNS: readonly DataColumn<Template>[] = [
  {
    id: 'name',
    title: 'Template',
    value: ({ name }) => name,
    render: ({ name }) => <SafeText text={name} />,
    width: 180,
  },
  {
    id: 'source',
    title: 'From',
    value: ({ source }) => source,
    render: ({ source }) => (source === 'builtin' ? 'the service' : 'a plug-in'),
    width: 110,
  },
  {
    id: 'description',
    title: 'What it does',
    value: ({ description }) => description,
    render: ({ description }) => <SafeText text={description} />,
    width: 600,
  },
];

/** The policy templates: shows their documents, and installs one into the policy document or removes it. */
export function TemplatesPanel() {
  const { data, error } = useOperation('policyTemplates', {});
  const [query, change] = useAddressQuery();
  return (
    <>
      {error === null ? null : <ErrorNote error={error} />}
      <DataTable
        name="templates"
        label="Policy templates"
        columns={COLUMNS}
        rows={data?.templates ?? []}
        rowKey={({ name }) => name}
        onOpen={({ name }) => change({ template: name })}
        empty={<p className="muted">{data === undefined ? 'Loading …' : 'There are no templates.'}</p>}
      />
      {query.template === undefined ? null : <TemplatePanel key={query.template} name={query.template} />}
    </>
  );
}

function TemplatePanel({ name }: { readonly name: string }) {
  const { data, error } = useOperation('policyTemplate', { template_name: name });
  const { verb, calls, can_change } = useTemplateChange(name);
  const [asked, setAsked] = useState<PartChange['verb'] | null>(null);
  const [version, setVersion] = useState<number | null>(null);
  return (
    <Panel
      title={revealHidden(name)}
      aside={
        can_change && data !== undefined ? (
          <button
            type="button"
            className={verb === 'Install' ? 'button primary small' : 'button small'}
            onClick={() => setAsked(verb)}
          >
            {verb}
          </button>
        ) : null
      }
    >
      {error === null ? null : <ErrorNote error={error} />}
      {version === null ? null : (
        <p className="note good" role="status">
          Version {version} of the policy document is active in all workers.
        </p>
      )}
      {data === undefined ? null : <CodeBlock text={stringify(data)} label={`Document of ${name}`} />}
      {asked === null ? null : (
        <PartDialog
          change={{ noun: 'template', name, verb: asked, call: calls[asked] }}
          onDone={(saved) => setVersion(saved.version)}
          onClose={() => setAsked(null)}
        />
      )}
    </Panel>
  );
}

const CHANGED = ['policyDocumentShow', 'policyVersionsList', 'dashboardRules', 'skillsList'] as const;

/** Returns the change that the button offers, and whether the user may make it. */
function useTemplateChange(name: string) {
  const mayCall = useMayCall();
  const { tenants } = useSession();
  const sees_document = tenants.includes('*');
  const { data } = useOperation('policyDocumentShow', {}, { enabled: sees_document });
  const calls = {
    Install: useOperationCall('dashboardTemplateInstall', CHANGED),
    Remove: useOperationCall('dashboardTemplateRemove', CHANGED),
  };
  const is_installed = data?.text.includes(`\n# Template ${name} ends\n`) === true;
  const verb: PartChange['verb'] = is_installed ? 'Remove' : 'Install';
  const operation = is_installed ? 'dashboardTemplateRemove' : 'dashboardTemplateInstall';
  return { verb, calls, can_change: mayCall(operation) && sees_document && data !== undefined };
}
