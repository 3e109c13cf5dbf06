import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Store } from '../../../platform/store/index.ts';
import { openIndexer } from '../../../runtime/audit/indexer.ts';
import { openIndex } from '../../../runtime/audit/open-index.ts';
import type { ShortenedChain } from '../../../runtime/audit/shortened-chains.ts';
import { makeAuditLog, START_MS, sampleEvent } from '../../../runtime/audit/testing/audit-log.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import { type AlertRow, type DeliveryRow, listAlertRows } from '../alert-store.ts';
import { openAlertEvaluator } from '../evaluator.ts';
import { type AlertRuleInput, completeAlertRule } from '../rule.ts';
import type { AlertService } from '../types.ts';

/** A journal with its index, and the evaluation of rules on it. The clock is that of the test. */
export interface TestAlerts {
  readonly clock: { now_ms: number };
  readonly service: AlertService;
  /** Appends events, indexes them and evaluates until nothing is left. */
  readonly append: (events: readonly AuditEvent[]) => Promise<void>;
  readonly evaluate: () => Promise<void>;
  /** Continues with a new evaluator, as after a restart. */
  readonly restart: () => void;
  /** Oldest first. */
  readonly alerts: () => Promise<readonly AlertRow[]>;
  readonly deliveries: () => Promise<readonly DeliveryRow[]>;
  readonly warnings: unknown[];
  /** The audit chains that lack records; a test changes the list. */
  readonly shortened: ShortenedChain[];
}

export async function openTestAlerts(
  t: TestContext,
  store: Store,
  rules: readonly AlertRuleInput[],
  { stream_id = 'test', declared = [] as readonly string[] } = {},
): Promise<TestAlerts> {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  const index = await openIndex({ path: join(trail.state, 'index.db') });
  t.after(() => index.close());
  const indexer = openIndexer({ index, dir: trail.dir });
  const warnings: unknown[] = [];
  const shortened: ShortenedChain[] = [];
  const service = buildTestService(rules);
  const { clock } = trail;
  const open = () =>
    openAlertEvaluator({
      store: async () => store,
      index: async () => index,
      service,
      stream_id,
      started_ms: START_MS,
      now_ms: () => clock.now_ms,
      listDeclaredAgents: () => new Set(declared),
      log: { warn: (message, fields) => void warnings.push({ message, ...fields }) },
      conditions: { findShortened: async () => shortened },
    });
  let evaluator = open();
  const evaluate = async () => {
    while (await evaluator.evaluate());
  };
  return {
    clock,
    service,
    append: async (events) => {
      for (let at = 0; at < events.length; at += 1_000)
        await Promise.all(events.slice(at, at + 1_000).map((event) => journal.append(event)));
      await indexer.sync();
      await evaluate();
    },
    evaluate,
    restart: () => {
      evaluator = open();
    },
    alerts: async () => (await listAlertRows(store.db, { tenants: '*', limit: 100_000 })).toReversed(),
    deliveries: async () =>
      store.db.selectFrom('outbox_messages').selectAll().orderBy('delivery_id').execute(),
    warnings,
    shortened,
  };
}

function buildTestService(rules: readonly AlertRuleInput[]): AlertService {
  return {
    rules: rules.map(completeAlertRule),
    channels: [
      { name: 'file', type: 'file' },
      { name: 'chat', type: 'webhook' },
    ],
    source: 'customshouse',
    console_url: 'https://safety.example',
    links: { build: (requestId) => `https://safety.example/v1/approvals/${requestId}/open` },
  };
}

/** Returns the event number `at`, which blocked a secret `seconds` after the start. */
export function buildBlockedEvent(at: number, seconds: number, fields: Partial<AuditEvent> = {}): AuditEvent {
  return sampleEvent(at, {
    timestamp: new Date(START_MS + seconds * 1_000).toISOString(),
    decision: 'block',
    action: 'block',
    policy_name: 'no-secrets',
    data_tags: ['secret.credential.api_key'],
    ...fields,
  });
}
