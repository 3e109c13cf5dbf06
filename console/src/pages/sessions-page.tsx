import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** Sessions of agents. */
export function SessionsPage() {
  return (
    <div className="page-body">
      <PageHeader title="Sessions" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
