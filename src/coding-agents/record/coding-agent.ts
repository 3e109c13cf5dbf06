import type { Dialect } from './dialect.ts';
import type { AgentDoctor } from './doctor.ts';
import type { AgentSettings } from './settings.ts';
import type { AgentTraces } from './traces.ts';
import type { TranscriptFormat } from './transcript.ts';

/** One entry of the list of coding agents: what the hook needs at each tool call, and the rest on demand. */
export interface CodingAgentRecord {
  /** The name on the command line and in events. It is also the name of the dialect. */
  readonly name: string;
  /** The name in messages. */
  readonly label: string;
  /** The format of its hook payloads, and the replies that it accepts. */
  readonly dialect: Dialect;
  /** Loads the parts that only `customshouse setup` and `customshouse doctor` use. `import()` keeps them out of the hook's bundle. */
  readonly load: () => Promise<AgentParts>;
}

/** The parts of a coding agent that the hook does not use. */
export interface AgentParts {
  readonly settings: AgentSettings;
  /** `null` if the format is not published. */
  readonly transcript: TranscriptFormat | null;
  readonly doctor: AgentDoctor;
  readonly traces: AgentTraces;
}

/** One coding agent with all of its parts. */
export interface CodingAgent extends Omit<CodingAgentRecord, 'load'>, AgentParts {}
