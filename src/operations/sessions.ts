import { Type } from '../core/schema.ts';
import { StoreFailure } from '../platform/store/index.ts';
import type { SessionResetTarget } from '../runtime/enforcement/sessions/types.ts';
import { type Context, defineOperation, Refusal } from './operation.ts';
import { name, PRINTABLE_TEXT, tenantId } from './shapes.ts';
import { dropBlankName, resolveTenant } from './subject.ts';

const pathName = Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT });

const answered = Type.Object({
  sessions: Type.Integer({ description: 'Sessions that had taint tags. Each agent has its own.' }),
});

export const sessionReset = defineOperation({
  name: 'session_reset',
  summary: 'Clear the taint tags of a session',
  description:
    'Clears the taint tags of a session, of one agent or of all agents, so that they no longer restrict it. Is recorded.',
  http: { method: 'POST', path: '/v1/sessions/{session_id}/reset' },
  permission: 'sessions:reset',
  needs: 'live',
  input: Type.Object({
    session_id: { ...pathName, description: 'The session, as the checks name it.' },
    agent_id: Type.Optional({ ...name, description: 'Without it all agents in the session.' }),
    tenant_id: Type.Optional(tenantId),
  }),
  output: answered,
  example: { session_id: 'sess-1', agent_id: 'support-bot' },
  answer: { sessions: 0 },
  run: ({ session_id, agent_id, tenant_id }, context) =>
    resetSessions(
      { session_id, agent_id: dropBlankName(agent_id), tenant_id: resolveTenant({ tenant_id }, context) },
      context,
    ),
});

export const agentSessionReset = defineOperation({
  name: 'agent_session_reset',
  summary: 'Clear the taint tags of an agent outside of sessions',
  description:
    'Clears the taint tags that an agent got without a `session_id`, which is one session per agent. Is recorded.',
  http: { method: 'POST', path: '/v1/agents/{agent_id}/reset-session' },
  permission: 'sessions:reset',
  needs: 'live',
  input: Type.Object({
    agent_id: { ...pathName, description: 'The agent.' },
    tenant_id: Type.Optional(tenantId),
  }),
  output: answered,
  example: { agent_id: 'support-bot' },
  answer: { sessions: 0 },
  run: ({ agent_id, tenant_id }, context) =>
    resetSessions({ session_id: null, agent_id, tenant_id: resolveTenant({ tenant_id }, context) }, context),
});

async function resetSessions(
  target: SessionResetTarget,
  { runtime, caller }: Context,
): Promise<{ sessions: number }> {
  try {
    return { sessions: await runtime.resetSession(target, caller) };
  } catch (fault) {
    if (!(fault instanceof StoreFailure)) throw fault;
    throw new Refusal('unavailable', 'The store cannot be reached, so nothing was cleared. Try again.');
  }
}
