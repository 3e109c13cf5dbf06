import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** The rules that are active. */
export function PoliciesPage() {
  return (
    <div className="page-body">
      <PageHeader title="Policies" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
