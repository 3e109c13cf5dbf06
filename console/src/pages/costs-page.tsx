import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** Spending on model calls. */
export function CostsPage() {
  return (
    <div className="page-body">
      <PageHeader title="Costs" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
