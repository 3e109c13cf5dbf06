import { PageHeader } from '../components/page-header.tsx';
import { PageTabs } from '../components/page-tabs.tsx';
import { DriversPanel, HooksPanel } from './settings/driver-panels.tsx';
import { HealthPanel } from './settings/health-panel.tsx';
import { McpPinsPanel } from './settings/mcp-pins-panel.tsx';
import { PluginsPanel } from './settings/plugins-panel.tsx';
import { SettingsPanel } from './settings/settings-panel.tsx';

/** The state of the service, its drivers, processes, hooks, effective settings, plug-ins, and the tools of MCP servers. */
export function SettingsPage() {
  return (
    <div className="page-body">
      <PageHeader
        title="Settings and health"
        lead="How the service runs, which value of each setting is effective, and where it comes from."
      />
      <PageTabs
        parts={[
          { id: 'health', title: 'Health', permission: null, Content: HealthPanel },
          {
            id: 'drivers',
            title: 'Drivers and processes',
            permission: 'settings:read',
            Content: DriversPanel,
          },
          { id: 'hooks', title: 'Hooks', permission: 'audit:read', Content: HooksPanel },
          { id: 'settings', title: 'Settings', permission: 'settings:read', Content: SettingsPanel },
          { id: 'mcp', title: 'MCP tools', permission: 'approvals:read', Content: McpPinsPanel },
          { id: 'plugins', title: 'Plug-ins', permission: 'policy:read', Content: PluginsPanel },
        ]}
      />
    </div>
  );
}
