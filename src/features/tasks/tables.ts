import { Type } from '../../core/schema.ts';
import { count, json, nullable, text, textList, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<[typeof tasks]> {}
}

const amounts = Type.Record(Type.String(), Type.String());

/** Agents’ tasks. A task and the tasks that it was delegated to count together. */
export const tasks = defineTable(
  'tasks',
  {
    task_id: text({ key: true, example: 'tsk_0123456789abcdef01234567' }),
    tenant_id: text({ example: 'default' }),
    agent_id: text({ example: 'support-bot' }),
    user_id: nullable(
      text({ description: 'The person for whom the agent acts; `null`: the task names none.' }),
    ),
    parent_id: nullable(text({ description: 'The task that was delegated; `null` for none.' })),
    tools: textList({
      description: 'Tools that it allows; `*` matches any run of characters.',
      example: ['refund', 'tickets.*'],
    }),
    /** Permitted values by argument, as keyed hashes in a JSON mapping. */
    permitted: text({ shown: false }),
    /** Listed arguments of calls whose results are sources, in the same form. */
    source_calls: text({ shown: false }),
    sums: json(amounts, {
      description: 'The largest sum of an argument over all calls, such as `refund.amount`.',
      example: { 'refund.amount': '500' },
    }),
    spent: json(amounts, {
      description: 'The sum of the calls that were allowed.',
      example: {},
    }),
    calls_max: nullable(count({ description: '`null`: no limit.' }), 20),
    calls: count({ description: 'Calls that were allowed, those of delegated tasks included.' }),
    cost_max: nullable(
      text({ description: 'US dollars that model calls may cost, such as `2.50`; `null`: no limit.' }),
      '2.50',
    ),
    created_by: text({ example: 'operator' }),
    created_ms: time(),
    expires_ms: time({ example: '2026-01-31T13:00:00.000Z' }),
    revoked_by: nullable(text()),
    revoked_ms: nullable(time()),
  },
  {
    indexes: {
      tasks_newest: ['created_ms', 'task_id'],
      tasks_expired: ['expires_ms'],
    },
  },
);

export const taskMigrations = createTables('tasks', [tasks]);
