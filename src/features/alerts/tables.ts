import type { Migration } from 'kysely/migration';
import type { AlertSource } from '../../runtime/config/schema-alert-rules.ts';
import type { AlertSeverity, AlertStatus } from './types.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends AlertTables {}
}

/** Alert rules, alerts and the state of evaluation. Times are milliseconds since 1970, UTC; objects are JSON. */
export interface AlertTables {
  /** The rules that operators saved over the API. */
  readonly alert_rules: {
    rule_id: string;
    /** Empty for a rule of all tenants. */
    tenant_id: string;
    /** The rule as JSON, with every default. */
    rule: string;
    created_by: string;
    created_ms: number;
    changed_by: string;
    changed_ms: number;
  };
  readonly alerts: {
    alert_id: string;
    rule_id: string;
    rule_name: string;
    severity: AlertSeverity;
    status: AlertStatus;
    source: AlertSource;
    /** The hash of the rule and the group. */
    group_key: string;
    group_values: string;
    event_count: number;
    threshold: number;
    window_ms: number;
    fired_ms: number;
    first_ms: number;
    last_ms: number;
    sample_event_ids: string;
    tenant_ids: string;
    dedup_key: string;
    channels: string;
    acknowledged_by: string | null;
    acknowledged_ms: number | null;
    resolved_by: string | null;
    resolved_ms: number | null;
    silence_id: string | null;
  };
  /** The tenants of each alert. A caller sees an alert if it may see all of them. */
  readonly alert_tenants: { alert_id: string; tenant_id: string };
  /** The count of one group of one rule. */
  readonly alert_groups: {
    group_key: string;
    rule_id: string;
    state: string;
    last_ms: number;
    /** 1 if an agent began it that the policy or a key names. */
    is_declared: number;
  };
  /** Conditions that were counted once, such as an approval that waits too long. */
  readonly alert_signals: { signal_id: string; rule_id: string; seen_ms: number };
  /** The position of the evaluation in the events of one state folder. */
  readonly alert_positions: { stream_id: string; position: string; changed_ms: number };
  readonly alert_silences: {
    silence_id: string;
    /** Empty for all tenants. */
    tenant_id: string;
    matcher: string;
    reason: string;
    created_by: string;
    created_ms: number;
    expires_ms: number;
  };
}

export const alertMigrations: Readonly<Record<string, Migration>> = {
  '0310_alerts': {
    async up(db) {
      await createRules(db);
      await createAlerts(db);
      await createState(db);
    },
  },
  '0311_alert_groups_declared': {
    async up({ schema }) {
      await schema
        .alterTable('alert_groups')
        .addColumn('is_declared', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
};

type Db = Parameters<Migration['up']>[0];

async function createRules({ schema }: Db): Promise<void> {
  await schema
    .createTable('alert_rules')
    .addColumn('rule_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('tenant_id', 'text', (column) => column.notNull())
    .addColumn('rule', 'text', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('changed_by', 'text', (column) => column.notNull())
    .addColumn('changed_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('alert_silences')
    .addColumn('silence_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('tenant_id', 'text', (column) => column.notNull())
    .addColumn('matcher', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('expires_ms', 'bigint', (column) => column.notNull())
    .execute();
}

async function createAlerts({ schema }: Db): Promise<void> {
  await schema
    .createTable('alerts')
    .addColumn('alert_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('rule_id', 'text', (column) => column.notNull())
    .addColumn('rule_name', 'text', (column) => column.notNull())
    .addColumn('severity', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('group_key', 'text', (column) => column.notNull())
    .addColumn('group_values', 'text', (column) => column.notNull())
    .addColumn('event_count', 'bigint', (column) => column.notNull())
    .addColumn('threshold', 'integer', (column) => column.notNull())
    .addColumn('window_ms', 'bigint', (column) => column.notNull())
    .addColumn('fired_ms', 'bigint', (column) => column.notNull())
    .addColumn('first_ms', 'bigint', (column) => column.notNull())
    .addColumn('last_ms', 'bigint', (column) => column.notNull())
    .addColumn('sample_event_ids', 'text', (column) => column.notNull())
    .addColumn('tenant_ids', 'text', (column) => column.notNull())
    .addColumn('dedup_key', 'text', (column) => column.notNull())
    .addColumn('channels', 'text', (column) => column.notNull())
    .addColumn('acknowledged_by', 'text')
    .addColumn('acknowledged_ms', 'bigint')
    .addColumn('resolved_by', 'text')
    .addColumn('resolved_ms', 'bigint')
    .addColumn('silence_id', 'text')
    .execute();
  await schema.createIndex('alerts_by_status').on('alerts').columns(['status', 'alert_id']).execute();
  await schema.createIndex('alerts_by_group').on('alerts').columns(['group_key', 'status']).execute();
  await schema.createIndex('alerts_by_rule').on('alerts').columns(['rule_id', 'alert_id']).execute();
  await schema
    .createTable('alert_tenants')
    .addColumn('alert_id', 'text', (column) => column.notNull())
    .addColumn('tenant_id', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('alert_tenants_key', ['alert_id', 'tenant_id'])
    .execute();
}

async function createState({ schema }: Db): Promise<void> {
  await schema
    .createTable('alert_groups')
    .addColumn('group_key', 'text', (column) => column.primaryKey().notNull())
    .addColumn('rule_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('last_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('alert_groups_by_rule').on('alert_groups').columns(['rule_id']).execute();
  await schema
    .createTable('alert_signals')
    .addColumn('signal_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('rule_id', 'text', (column) => column.notNull())
    .addColumn('seen_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('alert_positions')
    .addColumn('stream_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('position', 'text', (column) => column.notNull())
    .addColumn('changed_ms', 'bigint', (column) => column.notNull())
    .execute();
}
