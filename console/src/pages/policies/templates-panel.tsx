import { useState } from 'react';
import { stringify } from 'yaml';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall, useSession } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { CodeBlock } from '../../components/code-block.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { useAddressQuery } from '../../components/filter-chips.tsx';
import { Panel } from '../../components/page-header.tsx';
import { revealHidden, SafeText } from '../../components/safe-text.tsx';

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

/** The policy templates: shows their documents, and installs one into the policy document. */
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
  const mayCall = useMayCall();
  const { tenants } = useSession();
  const [is_installing, setInstalling] = useState(false);
  const [version, setVersion] = useState<number | null>(null);
  const can_install = mayCall('dashboardTemplateInstall') && tenants.includes('*');
  return (
    <Panel
      title={revealHidden(name)}
      aside={
        can_install && data !== undefined ? (
          <button type="button" className="button primary small" onClick={() => setInstalling(true)}>
            Install
          </button>
        ) : null
      }
    >
      {error === null ? null : <ErrorNote error={error} />}
      {version === null ? null : (
        <p className="note good" role="status">
          Installed: version {version} of the policy document is active in all workers.
        </p>
      )}
      {data === undefined ? null : <CodeBlock text={stringify(data)} label={`Document of ${name}`} />}
      {is_installing ? (
        <InstallDialog name={name} onInstalled={setVersion} onClose={() => setInstalling(false)} />
      ) : null}
    </Panel>
  );
}

interface InstallDialogProps {
  readonly name: string;
  readonly onInstalled: (version: number) => void;
  readonly onClose: () => void;
}

function InstallDialog({ name, onInstalled, onClose }: InstallDialogProps) {
  const call = useOperationCall('dashboardTemplateInstall', [
    'policyDocumentShow',
    'policyVersionsList',
    'dashboardRules',
  ]);
  return (
    <ConfirmDialog
      title={`Install ${revealHidden(name)}`}
      action="Install template"
      is_busy={call.isPending}
      error={call.error}
      onClose={onClose}
      onConfirm={() =>
        call.mutate(
          { name },
          {
            onSuccess: ({ version }) => {
              onInstalled(version);
              onClose();
            },
          },
        )
      }
    >
      <p>
        The template is added to the end of the policy document. The result becomes the next version, which
        all workers use at once.
      </p>
    </ConfirmDialog>
  );
}
