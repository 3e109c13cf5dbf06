import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** Calls that wait for an approver. */
export function ApprovalsPage() {
  return (
    <div className="page-body">
      <PageHeader title="Approvals" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
