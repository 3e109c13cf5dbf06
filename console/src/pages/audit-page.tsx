import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** The audit log and its verification. */
export function AuditPage() {
  return (
    <div className="page-body">
      <PageHeader title="Audit" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
