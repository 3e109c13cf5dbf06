import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** One agent. */
export function AgentPage() {
  return (
    <div className="page-body">
      <PageHeader title="Agent" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
