import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** Agents and tools, with what they did. */
export function AgentsPage() {
  return (
    <div className="page-body">
      <PageHeader title="Agents and tools" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
