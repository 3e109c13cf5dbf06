import { covers } from '../tags.ts';
import type { Crossing, Tag, TaintChange, Verdict } from '../types/index.ts';

/** Judges crossings in sequence and keeps session taint tags in memory. */
export type SessionJudge = (crossing: Crossing) => Verdict;

/** Creates a judge that keeps taint tags per session. A message changes the session of its receiver. */
export function createSessionJudge(judge: (crossing: Crossing) => Verdict): SessionJudge {
  const sessions = new Map<string, readonly Tag[]>();
  return (crossing) => {
    const tags = sessions.get(getKey(crossing, crossing.agent_id)) ?? [];
    const verdict = judge({ ...crossing, session_tags: tags });
    const { taint_change } = verdict;
    if (taint_change !== null) {
      const isMessage = crossing.phase === 'message';
      const key = getKey(crossing, isMessage ? String(crossing.destination_agent_id) : crossing.agent_id);
      const known = sessions.get(key) ?? [];
      sessions.set(key, applyTaintChange(known, taint_change));
    }
    return verdict;
  };
}

function getKey({ tenant_id, session_id }: Crossing, agentId: string): string {
  return JSON.stringify([tenant_id, session_id, agentId]);
}

function applyTaintChange(tags: readonly Tag[], { add, remove }: TaintChange): readonly Tag[] {
  const left = tags.filter((tag) => remove !== 'all' && !remove.some((ancestor) => covers(ancestor, tag)));
  return [...new Set([...left, ...add])];
}
