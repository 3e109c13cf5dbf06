import type { ArtifactFile } from '../../core/advisors/types.ts';
import type { Policy } from '../../core/types/index.ts';
import { runApart } from '../../platform/apart.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { ControlChange } from './control-changes.ts';
import {
  CONFIGURATION,
  type ExaminedProposal,
  type ProposalToExamine,
  type RefusedProposal,
} from './examine-proposal.ts';
import type { ProposalReplay } from './replay-proposal.ts';

/** The effect of proposed files on the policy. */
export interface ProposalEffect {
  /** `+ rule no-cards: block at output ...`, one line for each record. */
  readonly changes: readonly string[];
  /** True if anything would be allowed, or no longer found, that is not today. */
  readonly weakens: boolean;
  /** The places at which the policy would be less strict, as sentences. */
  readonly lets_through: readonly string[];
  /** Probable mistakes in the new records. */
  readonly remarks: readonly string[];
  /** The recorded decisions under the proposal; `null` if there is no audit log to replay. */
  readonly replay: ProposalReplay | null;
  /** The controls whose status in the compliance report would change; `null` for other advisors. */
  readonly control_changes: readonly ControlChange[] | null;
}

/** The effect of one file alone. */
export interface ReviewedProposal extends ProposalEffect {
  readonly path: string;
}

/** The examination of proposed files. */
export interface ArtifactCheck {
  /** Reasons why the files cannot be used, as sentences. */
  readonly problems: readonly string[];
  /** The effect of all files together, and of each one alone. */
  readonly review: { readonly together: ProposalEffect | null; readonly files: readonly ReviewedProposal[] };
  /** The result of parsing each file of code; absent for documents, which are always compiled. */
  readonly syntax?: Readonly<Record<string, SyntaxResult>>;
}

/** `parsed`, or `not checked: ` and the reason. */
export type SyntaxResult = 'parsed' | `not checked: ${string}`;

/** The parts that an examination needs. */
export interface DocumentCheckPorts {
  /** The configuration of the project to which the files would be applied. */
  readonly config: Config;
  /** Stops the check. */
  readonly signal?: AbortSignal;
  /** Replays recorded decisions under a policy; absent if there is no audit log. */
  readonly replay?: (next: Policy) => Promise<ProposalReplay>;
  /** Reports on a policy for the framework of a proposal; absent for other advisors. */
  readonly findControlChanges?: (next: Policy) => Promise<readonly ControlChange[]>;
}

/** The most files whose effect is examined one by one. */
const ALONE_MAX = 6;

/**
 * Examines proposed documents with the code that real policies go through: parsed, compiled together with the active
 * ones, linted, compared, and replayed. All of that runs in other processes, because a hostile answer can be large.
 */
export async function checkDocuments(
  files: readonly ArtifactFile[],
  ports: DocumentCheckPorts,
): Promise<ArtifactCheck> {
  const together = await examineDocuments(files, ports);
  if ('problems' in together) return { ...together, review: { together: null, files: [] } };
  const documents = files.filter(({ path }) => path !== CONFIGURATION);
  const alone: ReviewedProposal[] = [];
  if (files.length > 1 && documents.length <= ALONE_MAX && ports.replay !== undefined)
    for (const file of documents) {
      const examined = await examineDocuments([file], ports);
      if (!('problems' in examined)) alone.push({ path: file.path, ...examined });
    }
  return { problems: [], review: { together, files: alone } };
}

async function examineDocuments(
  files: readonly ArtifactFile[],
  { config, signal, replay, findControlChanges }: DocumentCheckPorts,
): Promise<ProposalEffect | RefusedProposal> {
  const examined = await examineApart({ files, config }, signal);
  if ('problems' in examined) return examined;
  const { policy, changes, remarks } = examined;
  const replayed = replay === undefined ? null : await replay(policy);
  const controlChanges = findControlChanges === undefined ? null : await findControlChanges(policy);
  const letsThrough = [
    ...examined.lets_through,
    ...(controlChanges ?? [])
      .filter(({ is_worse }) => is_worse)
      .map(({ control_id, from, to }) => `control ${control_id}: ${from} -> ${to}`),
    ...(replayed?.less_strict_examples ?? []).map(
      ({ event_id, from, to }) => `recorded decision ${event_id}: ${from} -> ${to}`,
    ),
  ];
  return {
    changes: changes.slice(0, LINES_MAX),
    weakens: examined.weakens || letsThrough.length > 0 || (replayed?.less_strict ?? 0) > 0,
    lets_through: letsThrough.slice(0, LINES_MAX),
    remarks: remarks.slice(0, LINES_MAX),
    replay: replayed,
    control_changes: controlChanges,
  };
}

const LINES_MAX = 100;
const EXAMINE_MINUTES_MAX = 2;

/** @throws Unavailable if the process fails, takes too long, or is stopped by the signal */
function examineApart(
  request: ProposalToExamine,
  signal: AbortSignal | undefined,
): Promise<ExaminedProposal | RefusedProposal> {
  const examined = runApart({
    program: new URL('./examine-process', import.meta.url),
    request,
    failure: 'The proposed files were not examined',
    minutes_max: EXAMINE_MINUTES_MAX,
    signal,
  });
  return examined as Promise<ExaminedProposal | RefusedProposal>;
}
