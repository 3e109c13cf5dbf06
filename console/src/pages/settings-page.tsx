import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** Effective settings and the health of the parts. */
export function SettingsPage() {
  return (
    <div className="page-body">
      <PageHeader title="Settings and health" />
      <EmptyState title="This page is not here yet." />
    </div>
  );
}
