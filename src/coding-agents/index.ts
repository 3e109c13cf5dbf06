import { claudeCode } from './claude-code/index.ts';
import { codex } from './codex/index.ts';
import { copilot } from './copilot/index.ts';
import { cursor } from './cursor/index.ts';
import { gemini } from './gemini/index.ts';
import { plainDialect } from './plain/dialect.ts';
import type { CodingAgentRecord } from './record/coding-agent.ts';
import type { Dialect, Payload } from './record/dialect.ts';

/**
 * The only list of coding agents. The names of dialects, the choices and help of commands, setup and doctor are derived
 * from it. The first agent that recognises a payload handles it. Claude Code is last, because its payloads lack the
 * members that distinguish those of other agents.
 */
const AGENTS: readonly CodingAgentRecord[] = [cursor, codex, gemini, copilot, claudeCode];

/** The record of every coding agent, by name. */
export const codingAgentRecords: readonly CodingAgentRecord[] = AGENTS.toSorted((a, b) =>
  a.name < b.name ? -1 : 1,
);

/** Every dialect that `customshouse hook` supports without plug-ins. */
export const dialects: readonly Dialect[] = [
  ...codingAgentRecords.map(({ dialect }) => dialect),
  plainDialect,
];

/** Returns the dialect of a payload: that of the agent that recognises it, else the plain one. */
export function recogniseDialect(payload: Payload): Dialect {
  return AGENTS.find(({ dialect }) => dialect.recognises(payload))?.dialect ?? plainDialect;
}
