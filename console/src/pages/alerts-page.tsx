import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** Alert rules and their history. */
export function AlertsPage() {
  return (
    <div className="page-body">
      <PageHeader title="Alerts" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
