import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** Decisions that stopped or changed something. */
export function IncidentsPage() {
  return (
    <div className="page-body">
      <PageHeader title="Incidents" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
