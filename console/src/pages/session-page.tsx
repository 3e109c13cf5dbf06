import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** One session as a waterfall. */
export function SessionPage() {
  return (
    <div className="page-body">
      <PageHeader title="Session" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
