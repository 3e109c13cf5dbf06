import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { AccountParts } from './types.ts';

/** The phases of audit events about users. */
export type AccountPhase =
  | 'sign_in'
  | 'sign_in_failed'
  | 'sign_in_limited'
  | 'sign_out'
  | 'second_factor'
  | 'second_factor_failed'
  | 'session_revoke'
  | 'password_change'
  | 'totp_add'
  | 'totp_remove'
  | 'passkey_add'
  | 'passkey_remove'
  | 'user_add'
  | 'user_change'
  | 'user_disable'
  | 'user_enable'
  | 'user_reset'
  | 'user_unlock';

export interface AccountEvent {
  readonly phase: AccountPhase;
  readonly reason: string;
  readonly caller_id: string;
  /** Default: `true`. */
  readonly done?: boolean;
  /** Never a password, a code, a token or a name that belongs to no user. */
  readonly metadata?: AuditEvent['metadata'];
}

/** Writes an event to the audit log. Resolves when it is durable; what cannot be recorded must not happen. */
export async function recordAccountEvent(ports: AccountParts['ports'], event: AccountEvent): Promise<void> {
  const { policy, now_ms, new_event_id, record } = ports();
  const atMs = now_ms();
  await record(
    buildServiceEvent({
      event_id: new_event_id(atMs),
      now_ms: atMs,
      phase: event.phase,
      done: event.done ?? true,
      reason: event.reason,
      caller_id: event.caller_id,
      policy_hash: policy.hash,
      metadata: event.metadata ?? {},
    }),
  );
}
