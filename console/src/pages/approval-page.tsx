import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** One request for approval. */
export function ApprovalPage() {
  return (
    <div className="page-body">
      <PageHeader title="Approval" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
