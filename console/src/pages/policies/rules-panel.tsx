import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useOperation } from '../../api/use-operation.ts';
import { Badge, Tags } from '../../components/badge.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { useAddressQuery } from '../../components/filter-chips.tsx';
import { Panel } from '../../components/page-header.tsx';
import { PeriodSelect, usePeriod } from '../../components/period-select.tsx';
import { revealHidden, SafeText } from '../../components/safe-text.tsx';
import { formatNumber } from '../../components/stat-tile.tsx';

type ActiveRule = OperationOutput<'dashboardRules'>['rules'][number] & { readonly position: number };

const ORIGIN_NAMES: Readonly<Record<ActiveRule['origin'], string>> = {
  configuration: 'configuration',
  file: 'file',
  pack: 'policy pack',
  tenant_set: 'rules of the tenant',
  document: 'policy document',
  builtin: 'built in',
  unknown: 'a file that changed',
};

const COLUMNS: readonly DataColumn<ActiveRule>[] = [
  { id: 'position', title: 'Order', width: 64 },
  {
    id: 'name',
    title: 'Rule',
    width: 225,
  },
  {
    id: 'action',
    title: 'Action',
    form: 'badge',
    width: 166,
  },
  {
    id: 'mode',
    title: 'Mode',
    value: ({ enforcement }) => enforcement,
    width: 115,
    render: ({ enforcement }) => <Mode enforcement={enforcement} />,
  },
  {
    id: 'boundaries',
    title: 'Boundary',
    value: ({ boundaries }) => boundaries.join(' '),
    width: 85,
    is_wide_only: true,
  },
  {
    id: 'data_tags',
    title: 'Data tags',
    value: ({ data_tags }) => data_tags.join(' '),
    render: ({ data_tags }) => <Tags tags={data_tags} max={1} />,
    width: 145,
    is_wide_only: true,
  },
  {
    id: 'tenant',
    title: 'Tenant',
    value: ({ tenant_id }) => tenant_id ?? 'all',
    render: ({ tenant_id }) => (tenant_id === null ? 'all' : <SafeText text={tenant_id} />),
    width: 90,
    is_wide_only: true,
  },
  {
    id: 'origin',
    title: 'From',
    value: ({ origin, file }) => file ?? ORIGIN_NAMES[origin],
    render: ({ origin, file }) =>
      file === null ? ORIGIN_NAMES[origin] : <SafeText text={getFileName(file)} />,
    width: 110,
    is_wide_only: true,
  },
  { id: 'priority', title: 'Priority', is_number: true, is_extra: true },
  { id: 'hits', title: 'Decided', is_number: true, width: 80 },
  {
    id: 'monitored_hits',
    title: 'Would act',
    is_number: true,
    width: 90,
    is_wide_only: true,
  },
  {
    id: 'last_hit',
    title: 'Last match',
    form: 'time',
    width: 120,
    is_extra: true,
    is_wide_only: true,
  },
];

/** The active rules in the order of evaluation, with their hits in the period. */
export function RulesPanel() {
  const last = usePeriod();
  const [query, change] = useAddressQuery();
  const { data, error } = useOperation('dashboardRules', { last, limit: 1_000 });
  const rules = (data?.rules ?? []).map((rule, index) => ({ ...rule, position: index + 1 }));
  const opened = rules.find((rule) => buildRuleKey(rule) === query.rule);
  return (
    <>
      <DataTable
        name="rules"
        error={error}
        label="Active rules"
        columns={COLUMNS}
        rows={data && rules}
        rowKey={buildRuleKey}
        onOpen={(rule) => change({ rule: buildRuleKey(rule) })}
        empty={<p className="muted">There are no rules.</p>}
      >
        <PeriodSelect />
      </DataTable>
      {opened === undefined ? null : <RulePanel rule={opened} last={last} />}
      {data === undefined ? null : (
        <p className="muted">
          Active policy <code>{data.policy_hash}</code>. For each data tag the first rule that matches
          decides, and over all tags the strictest action wins. “Would act” counts matches of rules in monitor
          mode.
        </p>
      )}
    </>
  );
}

function getFileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function buildRuleKey({ tenant_id, name }: ActiveRule): string {
  return tenant_id === null ? name : `${tenant_id}/${name}`;
}

function Mode({ enforcement }: { readonly enforcement: ActiveRule['enforcement'] }) {
  return enforcement === 'monitor' ? <span className="badge watch">◌ monitor</span> : <>enforce</>;
}

function RulePanel({ rule, last }: { readonly rule: ActiveRule; readonly last: string }) {
  const { name, action, hits, monitored_hits } = rule;
  const facts: readonly (readonly [string, readonly string[]])[] = [
    ['Boundary', rule.boundaries],
    ['Phase', rule.phases],
    ['Data tags', rule.data_tags],
    ['Tools', rule.tools],
    ['Agents', rule.agents],
    ['Session tags', rule.session_tags],
  ];
  return (
    <Panel title={revealHidden(name)} aside={<Badge value={action} />} details_of={buildRuleKey(rule)}>
      <dl className="facts">
        {facts.map(([label, values]) =>
          values.length === 0 ? null : (
            <Fragment key={label}>
              <dt>{label}</dt>
              <dd>
                <SafeText text={values.join(', ')} />
              </dd>
            </Fragment>
          ),
        )}
        {rule.when === null ? null : (
          <>
            <dt>Condition</dt>
            <dd>
              <code>
                <SafeText text={rule.when} />
              </code>
            </dd>
          </>
        )}
        <dt>Reason</dt>
        <dd>
          <SafeText text={rule.reason} />
        </dd>
        <dt>Edited in</dt>
        <dd>
          <EditedIn rule={rule} />
        </dd>
      </dl>
      <p className="row-links">
        <Link to="/activity" search={{ policy_name: name, last }}>
          {formatNumber(hits, 'decision', 'decisions')}
        </Link>
        {rule.enforcement === 'monitor' ? (
          <Link to="/activity" search={{ monitored: name, last }}>
            {formatNumber(monitored_hits, 'decision', 'decisions')} in which it would act
          </Link>
        ) : null}
      </p>
    </Panel>
  );
}

function EditedIn({ rule: { origin, file, tenant_id } }: { readonly rule: ActiveRule }) {
  if (origin === 'document')
    return (
      <Link to="/policies" search={{ part: 'document' }}>
        the policy document
      </Link>
    );
  if (origin === 'tenant_set' && tenant_id !== null)
    return (
      <Link to="/access" search={{ part: 'tenants', tenant: tenant_id }}>
        the rules of <SafeText text={tenant_id} />
      </Link>
    );
  if (origin === 'builtin') return <>the program; a rule that matches first replaces it</>;
  return file === null ? ORIGIN_NAMES[origin] : <SafeText text={file} />;
}
