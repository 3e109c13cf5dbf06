import { PageHeader } from '../components/page-header.tsx';
import { PageTabs } from '../components/page-tabs.tsx';
import { KeysPanel } from './access/keys-panel.tsx';
import { TenantsPanel } from './access/tenants-panel.tsx';
import { TokensPanel } from './access/tokens-panel.tsx';
import { UsersPanel } from './access/users-panel.tsx';

/** Tenants, users, and the credentials of agents. */
export function AccessPage() {
  return (
    <div className="page-body">
      <PageHeader
        title="Tenants and access"
        lead="Who may see and decide what, and with which credentials agents call."
      />
      <PageTabs
        parts={[
          { id: 'tenants', title: 'Tenants', permission: 'tenants:read', Content: TenantsPanel },
          { id: 'users', title: 'Users', permission: 'users:manage', Content: UsersPanel },
          { id: 'keys', title: 'API keys', permission: 'keys:manage', Content: KeysPanel },
          {
            id: 'tokens',
            title: 'Capability tokens',
            permission: 'capabilities:read',
            Content: TokensPanel,
          },
        ]}
      />
    </div>
  );
}
