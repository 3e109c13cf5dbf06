import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { CrossingContext } from '../../core/types/index.ts';
import { readOwnFileSync } from '../../platform/files/own-file.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';

/** The rule name of a block by the kill switch. */
export const AGENT_BLOCKED = 'agent.blocked';

/** The rule and the reason of a block by the kill switch. */
export interface AgentBlock {
  readonly rule: string;
  readonly reason: string;
}

/** Returns the block if the kill switch stops an agent that the crossing names, else `null`. Never throws. */
export type FindAgentBlock = (
  about: Pick<CrossingContext, 'agent_id' | 'source_agent_id' | 'destination_agent_id' | 'principal'>,
) => AgentBlock | null;

/**
 * Returns the key that all spellings of an agent's name share: the kill switch ignores case, compatible letters,
 * accents and characters without width.
 */
export function buildAgentKey(agentId: string): string {
  return agentId.normalize('NFKD').replace(UNSEEN, '').trim().toLowerCase();
}

const UNSEEN = /[\p{Zl}\p{Zp}\p{Mn}\p{Me}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Returns the path of the list. It is a copy of the store's table, so that a hook can read it without opening
 * the store.
 */
function getListPath(stateDir: string): string {
  return join(stateDir, 'blocked-agents.json');
}

/** Writes the list for all processes on this state folder, unless it is unchanged. */
export function writeAgentList(stateDir: string, keys: readonly string[]): void {
  const text = JSON.stringify([...keys].sort());
  const current = readText(getListPath(stateDir));
  if (current === null && keys.length === 0) return;
  if (current?.trim() !== text) writePrivateFile(getListPath(stateDir), text, 'replace');
}

/** The longest age of the list by which a decision is made, in milliseconds. */
export const AGENT_LIST_AGE_MS_MAX = 250;

/**
 * Opens the list of blocked agents in a state folder. The file is checked at most four times a second. A file
 * that exists but cannot be read blocks every agent.
 */
export function openAgentList(stateDir: string): FindAgentBlock {
  const path = getListPath(stateDir);
  let lookedMs = Number.NEGATIVE_INFINITY;
  let version = '';
  let keys: ReadonlySet<string> | null = new Set();
  const refresh = (): void => {
    const nowMs = performance.now();
    if (nowMs - lookedMs < AGENT_LIST_AGE_MS_MAX) return;
    lookedMs = nowMs;
    try {
      const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
      const next = stats === undefined ? '' : `${stats.ino}:${stats.mtimeNs}:${stats.size}`;
      if (next === version && keys !== null) return;
      keys = stats === undefined ? new Set() : parseList(readOwnFileSync(path));
      version = next;
    } catch {
      keys = null;
    }
  };
  return ({ agent_id, source_agent_id, destination_agent_id, principal }) => {
    refresh();
    if (keys === null) return UNREADABLE;
    if (keys.size === 0) return null;
    const named = [agent_id, source_agent_id, destination_agent_id, ...(principal?.chain ?? [])].filter(
      (name) => name !== null,
    );
    const blocked = named.find((name) => keys!.has(buildAgentKey(name)));
    if (blocked === undefined) return null;
    return { rule: AGENT_BLOCKED, reason: `An operator has blocked the agent \`${blocked}\`.` };
  };
}

const UNREADABLE: AgentBlock = {
  rule: 'agent.block_list_unreadable',
  reason: 'The list of blocked agents in the state folder cannot be read, so every agent is blocked.',
};

function parseList(text: string): ReadonlySet<string> {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list) || !list.every((key) => typeof key === 'string')) throw new Error('no list');
  return new Set(list.map(buildAgentKey));
}

function readText(path: string): string | null {
  try {
    return readOwnFileSync(path);
  } catch {
    return null;
  }
}
