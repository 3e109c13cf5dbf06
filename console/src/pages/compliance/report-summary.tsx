import type { ComplianceReport } from '../../../../src/features/compliance/report-types.ts';
import { Panel } from '../../components/page-header.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { formatCount, StatTile } from '../../components/stat-tile.tsx';
import { GapText } from './gap-text.tsx';

const STATUSES = [
  ['enforced', 'Enforced'],
  ['partly', 'Partly enforced'],
  ['gap', 'Gaps'],
  ['outside this service', 'Outside this service'],
] as const;

/** The figures of a report: controls by status, events, and what is not on record. */
export function ReportSummaryPanel({ report }: { readonly report: ComplianceReport }) {
  const { summary, window, title, edition, record_gaps } = report;
  return (
    <Panel title={`${title}, ${edition}`}>
      <div className="stack">
        <p className="hint">
          {window.since.slice(0, 10)} to {window.until.slice(0, 10)} (UTC),{' '}
          {formatCount(summary.total_events)} events, {formatCount(summary.policy_violation_count)} blocked,
          changed or held for approval. The report supports an audit; it is not a certificate.
        </p>
        <div className="tiles">
          {STATUSES.map(([status, label]) => (
            <StatTile key={status} label={label} value={summary.control_counts[status] ?? 0} />
          ))}
        </div>
        {record_gaps.map((gap) => (
          <p key={`${gap.message}${gap.since}`} className="note watch">
            <GapText gap={gap} />
          </p>
        ))}
        {summary.anomaly_flags.map((message) => (
          <p key={message} className="note watch">
            <SafeText text={message} />
          </p>
        ))}
      </div>
    </Panel>
  );
}
