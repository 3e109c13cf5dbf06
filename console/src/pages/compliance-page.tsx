import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** Compliance reports. */
export function CompliancePage() {
  return (
    <div className="page-body">
      <PageHeader title="Compliance" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
