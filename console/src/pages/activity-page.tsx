import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** Decisions as they happen, and those of the past. */
export function ActivityPage() {
  return (
    <div className="page-body">
      <PageHeader title="Activity" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
