import type { OperationOutput } from '../../api/client.ts';
import { useMayCall, useSession } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Badge } from '../../components/badge.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { useAddressQuery } from '../../components/filter-chips.tsx';
import { Command } from '../../components/prose.tsx';
import { revealHidden } from '../../components/safe-text.tsx';
import { type OfferedChange, PartPanel } from './part-panel.tsx';

type Skill = OperationOutput<'skillsList'>['skills'][number];

const COLUMNS: readonly DataColumn<Skill>[] = [
  {
    id: 'name',
    title: 'Skill',
    width: 180,
  },
  {
    id: 'state',
    title: 'State',
    render: ({ state }) => <Badge value={state === 'intact' ? 'installed' : state} />,
    width: 120,
  },
  {
    id: 'installed_in',
    title: 'Installed in',
    render: describePlace,
    width: 170,
    is_wide_only: true,
  },
  {
    id: 'version',
    title: 'Version',
    value: ({ version, installed_version }) => installed_version ?? version,
    width: 90,
  },
  {
    id: 'description',
    title: 'What it does',
    width: 480,
    is_wide_only: true,
  },
];

function describePlace({ installed_in }: Skill): string {
  if (installed_in === null) return '–';
  return installed_in === 'document' ? 'the policy document' : 'files';
}

/** The skills: shows their policies and cases, and installs or removes one. */
export function SkillsPanel() {
  const { data, error } = useOperation('skillsList', {});
  const [query, change] = useAddressQuery();
  const open = data?.skills.find(({ name }) => name === query.skill);
  return (
    <>
      <DataTable
        name="skills"
        error={error}
        label="Skills"
        columns={COLUMNS}
        rows={data?.skills}
        rowKey={({ name }) => name}
        onOpen={({ name }) => change({ skill: name })}
        empty={<p className="muted">There are no skills.</p>}
      />
      <p className="hint">
        A skill from a folder or a registry is installed as files:{' '}
        <Command text="customshouse skills add SOURCE" />.
      </p>
      {open === undefined ? null : <SkillPanel key={open.name} skill={open} />}
    </>
  );
}

function SkillPanel({ skill }: { readonly skill: Skill }) {
  const { name, installed_in } = skill;
  const { data, error } = useOperation('skillShow', { skill_name: name });
  const offered = useOfferedChange(skill.version !== null, installed_in);
  const change = { ...offered, can_change: offered.can_change && data !== undefined };
  return (
    <PartPanel noun="skill" name={name} change={change} error={error}>
      {data?.files.map(({ path, text }) => (
        <CodeBlock key={path} text={text} label={path} />
      ))}
      {installed_in === 'files' ? (
        <p className="muted">
          It is installed as files. Remove it with{' '}
          <Command text={`customshouse skills remove ${revealHidden(name)}`} />.
        </p>
      ) : null}
    </PartPanel>
  );
}

/** Returns the change that the button offers, and whether the user may make it. */
function useOfferedChange(isBundled: boolean, installedIn: Skill['installed_in']): OfferedChange {
  const mayCall = useMayCall();
  const { tenants } = useSession();
  const calls = {
    Install: useOperationCall('skillInstall', CHANGED),
    Remove: useOperationCall('skillRemove', CHANGED),
  };
  const isInstalled = installedIn === 'document';
  const verb = isInstalled ? 'Remove' : 'Install';
  const may = mayCall(isInstalled ? 'skillRemove' : 'skillInstall') && tenants.includes('*');
  return { verb, calls, can_change: may && installedIn !== 'files' && (isInstalled || isBundled) };
}

const CHANGED = ['skillsList', 'policyDocumentShow', 'policyVersionsList', 'dashboardRules'] as const;
