import { Tabs } from 'radix-ui';
import { useHasPermission } from '../api/session.ts';
import { useAddressQuery } from '../components/filter-chips.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { UsersPanel } from './access/users-panel.tsx';

const PARTS = [{ id: 'users', title: 'Users', permission: 'users:manage', Content: UsersPanel }] as const;

/** Tenants, users, and the credentials of agents. */
export function AccessPage() {
  const [query, change] = useAddressQuery();
  const hasPermission = useHasPermission();
  const parts = PARTS.filter(({ permission }) => hasPermission(permission));
  const first = parts[0];
  return (
    <div className="page-body">
      <PageHeader
        title="Tenants and access"
        lead="Who may see and decide what, and with which credentials agents call."
      />
      {first === undefined ? (
        <p className="muted">Your roles show nothing here.</p>
      ) : (
        <Tabs.Root value={query.part ?? first.id} onValueChange={(part) => change({ part })}>
          <Tabs.List className="tabs" aria-label="Parts of the page">
            {parts.map(({ id, title }) => (
              <Tabs.Trigger key={id} value={id} className="tab">
                {title}
              </Tabs.Trigger>
            ))}
          </Tabs.List>
          {parts.map(({ id, Content }) => (
            <Tabs.Content key={id} value={id} className="stack">
              <Content />
            </Tabs.Content>
          ))}
        </Tabs.Root>
      )}
    </div>
  );
}
