import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useOperationCall } from '../../api/use-operation.ts';
import { Badge, Tags } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ChoiceField } from '../../components/choice-field.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/page-header.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { formatCount, StatTile } from '../../components/stat-tile.tsx';
import { YamlEditor } from '../../components/yaml-editor.tsx';

/** Runs test cases and recorded decisions against the text in the editor. Nothing changes by it. */
export function DraftChecks({ text }: { readonly text: string }) {
  return (
    <div className="columns">
      <CasesPanel text={text} />
      <ReplayPanel text={text} />
    </div>
  );
}

type CaseResult = OperationOutput<'policyTest'>['results'][number];

const CASE_COLUMNS: readonly DataColumn<CaseResult>[] = [
  {
    id: 'result',
    title: 'Result',
    value: ({ differences }) => (differences.length === 0 ? 'passed' : 'failed'),
    render: ({ differences }) =>
      differences.length === 0 ? (
        <span className="badge good">✓ passed</span>
      ) : (
        <span className="badge bad">✕ failed</span>
      ),
    width: 100,
  },
  {
    id: 'name',
    title: 'Case',
    width: 180,
  },
  {
    id: 'differences',
    title: 'Difference',
    value: describeDifferences,
    render: (result) => <SafeText text={describeDifferences(result)} />,
    width: 260,
  },
];

function describeDifferences({ differences }: CaseResult): string {
  return differences
    .map(({ field, expected, actual }) => `${field}: expected ${expected}, found ${actual}`)
    .join('; ');
}

function CasesPanel({ text }: { readonly text: string }) {
  const call = useOperationCall('policyTest', []);
  const [cases, setCases] = useState('');
  const { data } = call;
  return (
    <Panel title="Test cases">
      <div className="stack">
        <p className="muted">
          Without cases here, those of <code>policies/tests/*.yaml</code> next to the configuration run.
        </p>
        <YamlEditor label="Test cases as YAML" value={cases} onChange={setCases} document="cases" />
        <p>
          <Button
            disabled={call.isPending}
            onClick={() => call.mutate({ text, ...(cases.trim() === '' ? {} : { cases }) })}
          >
            {call.isPending ? 'Running …' : 'Run the cases'}
          </Button>
        </p>
        <ErrorNote error={call.error} />
        {data === undefined ? null : (
          <>
            <Outdated is_outdated={call.variables?.text !== text} />
            {data.problems.length === 0 ? null : <CaseProblems problems={data.problems} />}
            <DataTable
              name="policy-cases"
              label="Results of the test cases"
              columns={CASE_COLUMNS}
              rows={data.results}
              rowKey={({ file, line }) => `${file}:${line}`}
              empty={
                <EmptyState title="No case was run.">
                  Write cases above, or in a file of <code>policies/tests</code>.
                </EmptyState>
              }
            />
          </>
        )}
      </div>
    </Panel>
  );
}

function CaseProblems({ problems }: { readonly problems: OperationOutput<'policyTest'>['problems'] }) {
  return (
    <div className="note bad" role="alert">
      <p>The cases are not valid:</p>
      <ul>
        {problems.map(({ file, path, line, message }) => (
          <li key={`${file} ${line} ${path} ${message}`}>
            <code>
              <SafeText text={line === undefined ? path : `line ${line}`} />
            </code>{' '}
            <SafeText text={message} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Says that a result belongs to an earlier text. */
function Outdated({ is_outdated }: { readonly is_outdated: boolean }) {
  return is_outdated ? <p className="note watch">The document has changed since. Run it again.</p> : null;
}

type Replay = OperationOutput<'policyReplay'>;
type ChangedDecision = Replay['stricter'][number];

const PERIODS = [
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const;

function ReplayPanel({ text }: { readonly text: string }) {
  const call = useOperationCall('policyReplay', []);
  const [since, setSince] = useState('24h');
  const [agentId, setAgent] = useState('');
  return (
    <Panel title="Replay">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          call.mutate({ text, since, ...(agentId === '' ? {} : { agent_id: agentId }) });
        }}
      >
        <p className="muted">
          Evaluates recorded decisions under this document, and shows those that would change.
        </p>
        <div className="field-row">
          <ChoiceField label="Period" choices={PERIODS} value={since} onChange={setSince} />
          <label className="field grow">
            <span>Agent; empty for all</span>
            <input
              className="input"
              maxLength={256}
              value={agentId}
              onChange={(event) => setAgent(event.currentTarget.value)}
            />
          </label>
          <Button type="submit" disabled={call.isPending}>
            {call.isPending ? 'Replaying …' : 'Replay'}
          </Button>
        </div>
      </form>
      <ErrorNote error={call.error} />
      {call.data === undefined ? null : (
        <div className="stack">
          <Outdated is_outdated={call.variables?.text !== text} />
          <ReplayResult replay={call.data} />
        </div>
      )}
    </Panel>
  );
}

const EXAMPLE_COLUMNS: readonly DataColumn<ChangedDecision>[] = [
  {
    id: 'event',
    title: 'Decision',
    value: ({ event_id }) => event_id,
    render: ({ event_id, from, to }) => (
      <Link to="/incidents/$event_id" params={{ event_id }} search={{}}>
        {from} → {to}
      </Link>
    ),
    width: 150,
  },
  {
    id: 'agent',
    title: 'Agent',
    value: ({ agent_id }) => agent_id,
  },
  {
    id: 'tool',
    title: 'Tool',
    value: ({ tool_name }) => tool_name,
    width: 110,
  },
  {
    id: 'tags',
    title: 'Data tags',
    value: ({ data_tags }) => data_tags.join(' '),
    render: ({ data_tags }) => <Tags tags={data_tags} max={1} />,
    width: 170,
    is_wide_only: true,
  },
  {
    id: 'rule',
    title: 'Rule',
    value: ({ to_rule }) => to_rule,
    is_wide_only: true,
  },
];

function ReplayResult({ replay }: { readonly replay: Replay }) {
  const { total, unknown, transitions } = replay;
  const reasons = Object.entries(unknown);
  return (
    <>
      <div className="tiles">
        <StatTile label="Stay the same" value={formatCount(total.same)} />
        <StatTile label="Stricter" value={formatCount(total.stricter)} />
        <StatTile label="Less strict" value={formatCount(total.less_strict)} />
        <StatTile label="Cannot be replayed" value={formatCount(total.unknown)} />
      </div>
      {transitions.length === 0 ? null : (
        <ul className="plain-list" aria-label="Changes of the action">
          {transitions.map(({ from, to, count }) => (
            <li key={`${from} ${to}`}>
              <Badge value={from} /> → <Badge value={to} /> {formatCount(count)}
            </li>
          ))}
        </ul>
      )}
      {reasons.length === 0 ? null : (
        <p className="muted">
          Not replayed:{' '}
          {reasons.map(([reason, count]) => `${reason.replaceAll('_', ' ')} ${count}`).join(', ')}.
        </p>
      )}
      {total.stricter + total.less_strict === 0 ? (
        <p className="muted">No decision would change.</p>
      ) : (
        <DataTable
          name="replay-examples"
          label="Examples of decisions that would change"
          columns={EXAMPLE_COLUMNS}
          rows={[...replay.less_strict, ...replay.stricter]}
          rowKey={({ event_id }) => event_id}
          empty={null}
        />
      )}
    </>
  );
}
