import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** Tenants, users, tokens and API keys. */
export function AccessPage() {
  return (
    <div className="page-body">
      <PageHeader title="Tenants and access" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
