import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** The place of compliance reports. */
export function CompliancePage() {
  return (
    <div className="page-body">
      <PageHeader title="Compliance" lead="What the service enforces, and the evidence for it." />
      <EmptyState
        title="This version makes no compliance reports."
        command="service audit export --last 90d --format csv > events.csv"
      >
        The evidence is in the audit log already. This command exports it, and{' '}
        <code>service audit verify</code> proves that nothing in it was changed.
      </EmptyState>
    </div>
  );
}
