import type { Dialect } from './dialect.ts';
import type { AgentDoctor } from './doctor.ts';
import type { AgentSettings } from './settings.ts';
import type { TranscriptFormat } from './transcript.ts';

/** One coding agent: everything that the hook, `service setup` and `service doctor` need to know about it. */
export interface CodingAgent {
  /** The name on the command line and in events. It is also the name of the dialect. */
  readonly name: string;
  /** The name in messages. */
  readonly label: string;
  /** The format of its hook payloads, and the replies that it accepts. */
  readonly dialect: Dialect;
  readonly settings: AgentSettings;
  /** `null` if the format is not published. */
  readonly transcript: TranscriptFormat | null;
  readonly doctor: AgentDoctor;
}
