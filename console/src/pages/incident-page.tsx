import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** One decision explained. */
export function IncidentPage() {
  return (
    <div className="page-body">
      <PageHeader title="Incident" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
