import type { CodingAgent } from '../record/coding-agent.ts';
import type { Machine } from '../record/settings.ts';
import type { HookCall, Transcript } from '../record/transcript.ts';
import type { SkipCounter } from './read-lines.ts';
import { listNewFiles, type ReadLimits, readTranscript, type TranscriptFile } from './read-transcripts.ts';

/** A call in a transcript, with its arguments. It is in memory only. */
export interface PastCall extends HookCall {
  readonly agent: CodingAgent;
  readonly at_ms: number | null;
  /** The folder in which the session began; `null` if the transcript does not say. */
  readonly working_dir: string | null;
}

/** The most bytes that are read from one file, because its calls are in memory together. */
const FILE_BYTES_MAX = 134_217_728;

/**
 * Reads the tool calls for which agents call hooks, from all of their transcripts, newest file first. Yields the calls
 * of one file, newest first. A call that a resumed session repeats is read once.
 */
export async function* readPastCalls(
  agents: readonly CodingAgent[],
  machine: Machine,
  counter: SkipCounter,
  isLate: () => boolean,
): AsyncGenerator<readonly PastCall[]> {
  const limits: ReadLimits = { keeps_calls: true, bytes_max: FILE_BYTES_MAX, isLate };
  const seen = new Set<string>();
  for (const { agent, path } of await listFiles(agents, machine, counter)) {
    if (isLate()) return;
    const transcript = await readTranscript(path, agent.transcript!, counter, limits);
    if (transcript !== null) yield listCalls(agent, transcript, seen);
  }
}

/** Returns whether one of the agents has a transcript on this machine. */
export async function hasTranscripts(agents: readonly CodingAgent[], machine: Machine): Promise<boolean> {
  return (await listFiles(agents, machine, { skipped_count: 0 })).length > 0;
}

async function listFiles(agents: readonly CodingAgent[], machine: Machine, counter: SkipCounter) {
  const files: (TranscriptFile & { readonly agent: CodingAgent })[] = [];
  for (const agent of agents) {
    const location = agent.settings.transcripts(machine);
    if (location === null || agent.transcript === null) continue;
    const listed = await listNewFiles(location, 0);
    counter.skipped_count += listed.skipped_count;
    for (const file of listed.files) files.push({ ...file, agent });
  }
  return files.sort((a, b) => b.mtime_ms - a.mtime_ms);
}

function listCalls(agent: CodingAgent, { cwd, runs }: Transcript, seen: Set<string>): readonly PastCall[] {
  const calls: PastCall[] = [];
  for (const { id, at_ms, calls_hook, call } of runs) {
    const key = id === null ? null : `${agent.name} ${id}`;
    if (call === undefined || calls_hook === 'no' || (key !== null && seen.has(key))) continue;
    if (key !== null) seen.add(key);
    calls.push({ ...call, agent, at_ms, working_dir: cwd });
  }
  return calls.reverse();
}
