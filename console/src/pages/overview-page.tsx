import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** The state of the last day at a glance. */
export function OverviewPage() {
  return (
    <div className="page-body">
      <PageHeader title="Overview" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
