import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** The place of alert rules, channels and deliveries. */
export function AlertsPage() {
  return (
    <div className="page-body">
      <PageHeader title="Alerts" lead="Who receives a message when something happens." />
      <EmptyState title="This version sends no alerts." command="service logs --follow --action block">
        Until it does, follow the decisions with this command, read them from <code>/v1/ws/events</code>, or
        let Prometheus alert on <code>service_requests_total</code> and <code>service_violations_total</code>.
      </EmptyState>
    </div>
  );
}
