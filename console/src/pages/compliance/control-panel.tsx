import { Link } from '@tanstack/react-router';
import type {
  ControlReport,
  ControlStatus,
  EvidenceCount,
} from '../../../../src/features/compliance/report-types.ts';
import { Panel } from '../../components/page-header.tsx';
import { Prose } from '../../components/prose.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { formatCount, formatNumber } from '../../components/stat-tile.tsx';
import { formatShortTime, GapText } from './gap-text.tsx';

interface ControlPanelProps {
  readonly control: ControlReport;
  /** The window of the report, for links to its events. */
  readonly last: string;
}

/** One control: its status, what carried it, the evidence with links to events, and the gaps. */
export function ControlPanel({ control, last }: ControlPanelProps) {
  const { control_id, title, status, requirement, contribution, elements, evidence, gaps } = control;
  return (
    <Panel title={`${control_id} ${title}`} aside={<StatusBadge status={status} />} className="control">
      <div className="stack">
        <dl className="facts">
          <dt>The clause</dt>
          <dd>
            <Prose text={requirement} />
          </dd>
          <dt>The service</dt>
          <dd>
            <Prose text={contribution} />
          </dd>
        </dl>
        {gaps.length === 0 ? null : (
          <ul className="plain-list stack" aria-label={`Gaps of ${control_id}`}>
            {gaps.map((gap) => (
              <li key={`${gap.kind}${gap.message}${gap.since}`} className="note watch">
                <GapText gap={gap} />
              </li>
            ))}
          </ul>
        )}
        <EvidenceTable control_id={control_id} counts={evidence.counts} last={last} />
        <details className="hint">
          <summary>
            {formatNumber(elements.length, 'rule or mechanism', 'rules and mechanisms')},{' '}
            {formatNumber(evidence.sample_event_ids.length, 'sample event', 'sample events')}
          </summary>
          <ul className="plain-list">
            {elements.map(({ kind, name, detail, tenant_id }) => (
              <li key={`${kind}${name}${tenant_id}`}>
                <SafeText text={name} />
                {tenant_id === null ? null : (
                  <>
                    {' '}
                    of <SafeText text={tenant_id} />
                  </>
                )}
                : <Prose text={detail} />
              </li>
            ))}
          </ul>
          <p>
            {evidence.sample_event_ids.map((eventId) => (
              <span key={eventId}>
                <Link to="/audit" search={{ event_id: eventId, last: '365d' }}>
                  <code>{eventId}</code>
                </Link>{' '}
              </span>
            ))}
          </p>
        </details>
      </div>
    </Panel>
  );
}

const STATUSES: Readonly<Record<ControlStatus, readonly [tone: string, sign: string]>> = {
  enforced: ['good', '✓'],
  partly: ['watch', '◐'],
  gap: ['bad', '✕'],
  'outside this service': ['calm', '◌'],
};

function StatusBadge({ status }: { readonly status: ControlStatus }) {
  const [tone, sign] = STATUSES[status];
  return (
    <span className={`badge ${tone}`}>
      <span aria-hidden="true">{sign}</span>
      {status}
    </span>
  );
}

interface EvidenceTableProps {
  readonly control_id: string;
  readonly counts: readonly EvidenceCount[];
  readonly last: string;
}

function EvidenceTable({ control_id, counts, last }: EvidenceTableProps) {
  if (counts.length === 0)
    return <p className="muted">No event of the window is evidence of this control.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard.
    <section className="plain-scroll" tabIndex={0} aria-label={`Evidence of ${control_id}`}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Evidence</th>
            <th scope="col">Events</th>
            <th scope="col">Blocked</th>
            <th scope="col">Redacted</th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {counts.map((row) => (
            <tr key={`${row.kind}${row.name}`}>
              <th scope="row">
                <Link to="/audit" search={getFilter(row, last)}>
                  <SafeText text={row.name} />
                </Link>
              </th>
              <td>{formatCount(row.events)}</td>
              <td>{formatCount(row.actions.block)}</td>
              <td>{formatCount(row.actions.redact)}</td>
              <td>{formatShortTime(row.last)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Returns the filter of the page Audit that shows the events of a row. */
function getFilter({ kind, name }: EvidenceCount, last: string): Record<string, string> {
  return kind === 'tag' ? { data_tag: name, last } : { policy_name: name, last };
}
