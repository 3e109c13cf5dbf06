import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArtifactFile } from '../../core/advisors/types.ts';
import { REMARK_LEVELS } from '../../core/review/lint/remark.ts';
import type { Detection, DocumentProblem, Policy } from '../../core/types/index.ts';
import { type Config, formatProblem } from '../../runtime/config/index.ts';
import { loadConfig } from '../../runtime/policies/load-config.ts';
import { loadPolicy } from '../../runtime/policies/load-policy.ts';
import { lintApart } from '../../runtime/policies/run-apart.ts';
import { comparePolicies } from '../../runtime/skills/policy-effect.ts';
import { simulateChange } from '../../runtime/skills/simulate-change.ts';
import { findConfigurationProblems } from './check-configuration.ts';
import type { ControlChange } from './control-changes.ts';
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
  readonly env: NodeJS.ProcessEnv;
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
 * ones, linted, compared, and replayed.
 */
export async function checkDocuments(
  files: readonly ArtifactFile[],
  ports: DocumentCheckPorts,
): Promise<ArtifactCheck> {
  const refused = (problems: readonly string[]): ArtifactCheck => ({
    problems,
    review: { together: null, files: [] },
  });
  const before = await loadPolicy(ports.config);
  if (!before.ok)
    return refused([
      'The present policy is not valid, so nothing can be compared with it. Run `service validate`.',
    ]);
  const together = await examineDocuments(files, before.policy, ports);
  if ('problems' in together) return refused(together.problems);
  const documents = files.filter(({ path }) => path !== CONFIGURATION);
  if (files.length === 1 || documents.length > ALONE_MAX || ports.replay === undefined)
    return { problems: [], review: { together: together.effect, files: [] } };
  const alone: ReviewedProposal[] = [];
  for (const file of documents) {
    const examined = await examineDocuments([file], before.policy, ports);
    if ('effect' in examined) alone.push({ path: file.path, ...examined.effect });
  }
  return { problems: [], review: { together: together.effect, files: alone } };
}

const CONFIGURATION = 'service.yaml';

async function examineDocuments(
  files: readonly ArtifactFile[],
  before: Policy,
  { config, env, signal, replay, findControlChanges }: DocumentCheckPorts,
): Promise<{ readonly effect: ProposalEffect } | { readonly problems: readonly string[] }> {
  const settings = files.find(({ path }) => path === CONFIGURATION);
  const read = settings === undefined ? { config } : await readProposedConfig(settings.text, config, env);
  if ('problems' in read) return read;
  const documents = files.filter(({ path }) => path !== CONFIGURATION);
  const changes = documents.map(({ path, text }) => {
    return { path, action: 'create', before: null, after: null, text } as const;
  });
  const simulated = await simulateChange(read.config, changes);
  if (simulated.policy === null) return { problems: simulated.problems.map(formatForModel) };
  const after = simulated.policy;
  const effect = comparePolicies(before, after);
  const replayed = replay === undefined ? null : await replay(after);
  const control_changes = findControlChanges === undefined ? null : await findControlChanges(after);
  const lets_through = [
    ...effect.strictness.examples.map(({ where, before, after }) => `${where}: ${before} -> ${after}`),
    ...effect.strictness.loosening,
    ...listDisabledDetection(before.detection, after.detection),
    ...(control_changes ?? [])
      .filter(({ is_worse }) => is_worse)
      .map(({ control_id, from, to }) => `control ${control_id}: ${from} -> ${to}`),
    ...(replayed?.laxer_examples ?? []).map(
      ({ event_id, from, to }) => `recorded decision ${event_id}: ${from} -> ${to}`,
    ),
  ];
  return {
    effect: {
      changes: [
        ...effect.added.map((record) => `+ ${record.kind} ${record.name}: ${record.summary}`),
        ...effect.changed.map((record) => `~ ${record.kind} ${record.name}: ${record.summary}`),
        ...effect.removed.map((record) => `- ${record.kind} ${record.name}: ${record.summary}`),
        ...effect.consequences,
      ].slice(0, LINES_MAX),
      weakens: effect.strictness.laxer > 0 || lets_through.length > 0 || (replayed?.laxer ?? 0) > 0,
      lets_through: lets_through.slice(0, LINES_MAX),
      remarks: (await lintNewRecords(before, after, signal)).slice(0, LINES_MAX),
      replay: replayed,
      control_changes,
    },
  };
}

const LINES_MAX = 100;

/** Reads a proposed configuration in a temporary folder. It keeps the folders of the present one. */
async function readProposedConfig(
  text: string,
  config: Config,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly config: Config } | { readonly problems: readonly string[] }> {
  const problems = await findConfigurationProblems(text);
  if (problems.length > 0) return { problems };
  const folder = await mkdtemp(join(tmpdir(), 'service-advisor-'));
  try {
    const path = join(folder, CONFIGURATION);
    await writeFile(path, text);
    const read = await loadConfig({ path, env, cwd: folder, secrets: 'leave' });
    if (!read.ok) return { problems: read.problems.map(formatForModel) };
    return { config: { ...read.config, state_dir: config.state_dir, origin: config.origin } };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Formats a problem without the path of a temporary folder. */
function formatForModel(problem: DocumentProblem): string {
  return formatProblem(problem).replaceAll(/\S*service-(?:advisor|skills)-\w+\//g, '');
}

async function lintNewRecords(
  before: Policy,
  after: Policy,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const known = new Set(
    [...before.rules, ...before.contracts, ...before.identities].map((each) => JSON.stringify(each)),
  );
  return (await lintApart(after, signal))
    .filter(({ record }) => !known.has(JSON.stringify(record)))
    .map(({ id, message }) => `${REMARK_LEVELS[id]}: ${message}`);
}

const GROUPS = ['secret_detection', 'pii_protection', 'injection_detection', 'command_detection'] as const;

function listDisabledDetection(before: Detection, after: Detection): readonly string[] {
  return GROUPS.filter((group) => before[group] && !after[group]).map(
    (group) => `\`${group}\` is switched off: nothing of that kind is found any more`,
  );
}
