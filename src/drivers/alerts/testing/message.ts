import type { AlertMessage } from '../channel.ts';

/** Returns an alert of a rule about denied tool calls. */
export function buildAlertMessage(more: Partial<AlertMessage> = {}): AlertMessage {
  return {
    delivery_id: 'dlv_01J9ZX5F2M',
    alert_id: 'alr_01J9ZX5F2M',
    kind: 'trigger',
    dedup_key: 'customshouse/denied-calls/billing-bot',
    rule_id: 'denied-calls',
    rule_name: 'Denied tool calls',
    severity: 'high',
    summary: '5 denied tool calls of agent billing-bot within 10 minutes.',
    source: 'customshouse',
    tenant_ids: ['acme'],
    group: { agent_id: 'billing-bot' },
    count: 5,
    threshold: 5,
    window_ms: 600_000,
    first_at: '2026-11-23T03:00:00.000Z',
    last_at: '2026-11-23T03:08:30.000Z',
    sample_event_ids: ['evt_1', 'evt_2'],
    action_shown: null,
    action_marks: [],
    url: 'https://safety.example.com/dashboard/alerts?alert=alr_01J9ZX5F2M',
    approval: null,
    ...more,
  };
}
