import type { ValuesOwner } from '../index.ts';

/** The secret from which the tests derive session keys. */
export const SECRET = 'x'.repeat(43);

/** A session for tests. */
export const OWNER: ValuesOwner = {
  tenant_id: 'default',
  session_id: 's',
  agent_id: 'agent-1',
  caller_id: 'key:app',
  user_id: '',
};
