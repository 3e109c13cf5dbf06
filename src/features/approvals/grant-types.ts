import type { Row, Shown } from '../../platform/store/define-table.ts';
import type { approvalGrants } from './tables.ts';

export type GrantRow = Row<typeof approvalGrants>;

export const GRANT_STATUSES = ['active', 'used_up', 'expired', 'revoked'] as const;
export type GrantStatus = (typeof GRANT_STATUSES)[number];

/** A grant, as callers see it. */
export interface GrantRecord extends Shown<typeof approvalGrants> {
  readonly status: GrantStatus;
  /** The calls that it covers, in one sentence. */
  readonly sentence: string;
}

/** Filters of the list, joined with AND. */
export interface GrantFilter {
  readonly status?: GrantStatus | undefined;
  readonly agent_ids?: readonly string[] | undefined;
  readonly tenant_ids?: readonly string[] | undefined;
  readonly tool?: string | undefined;
  readonly limit: number;
}
