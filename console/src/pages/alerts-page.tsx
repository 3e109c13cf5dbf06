import { PageHeader } from '../components/page-header.tsx';
import { PageTabs } from '../components/page-tabs.tsx';
import { AlertRulesPanel } from './alerts/alert-rules-panel.tsx';
import { AlertsPanel } from './alerts/alerts-panel.tsx';
import { DeliveriesPanel } from './alerts/deliveries-panel.tsx';
import { SilencesPanel } from './alerts/silences-panel.tsx';

/** Alerts, the rules that raise them, silences, and the messages to channels. */
export function AlertsPage() {
  return (
    <div className="page-body">
      <PageHeader title="Alerts" lead="What fires when events match a rule, and who receives a message." />
      <PageTabs
        parts={[
          { id: 'alerts', title: 'Alerts', permission: 'alerts:read', Content: AlertsPanel },
          { id: 'rules', title: 'Rules', permission: 'alerts:read', Content: AlertRulesPanel },
          { id: 'silences', title: 'Silences', permission: 'alerts:read', Content: SilencesPanel },
          { id: 'deliveries', title: 'Deliveries', permission: 'alerts:read', Content: DeliveriesPanel },
        ]}
      />
    </div>
  );
}
