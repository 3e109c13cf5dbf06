import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** What detectors found. */
export function DetectionPage() {
  return (
    <div className="page-body">
      <PageHeader title="Detection" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
