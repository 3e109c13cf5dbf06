import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArtifactFile } from '../../core/advisors/types.ts';
import { lintCompiledPolicy } from '../../core/review/lint/lint.ts';
import { REMARK_LEVELS } from '../../core/review/lint/remark.ts';
import type { DocumentProblem, Policy } from '../../core/types/index.ts';
import { type Config, formatProblem } from '../../runtime/config/index.ts';
import { loadConditions } from '../../runtime/policies/conditions.ts';
import { loadConfigWith } from '../../runtime/policies/load-config.ts';
import { loadPolicy } from '../../runtime/policies/load-policy.ts';
import { comparePolicies } from '../../runtime/skills/policy-effect.ts';
import { simulateChange } from '../../runtime/skills/simulate-change.ts';
import { listWeakenings } from '../../runtime/skills/weakenings.ts';
import { findConfigurationProblems } from './check-configuration.ts';

/** Proposed documents, and the configuration of the project to which they would be applied. */
export interface ProposalToExamine {
  readonly files: readonly ArtifactFile[];
  readonly config: Config;
}

/** The policy that a proposal leads to, and its differences from the active one. */
export interface ExaminedProposal {
  readonly policy: Policy;
  /** `+ rule no-cards: block at output ...`, one line for each record. */
  readonly changes: readonly string[];
  /** True if anything would be allowed, or no longer found, that is not today, or if that is not known. */
  readonly weakens: boolean;
  /** The places at which the policy would be less strict. */
  readonly lets_through: readonly string[];
  /** Probable mistakes in the new records. */
  readonly remarks: readonly string[];
}

/** Reasons why a proposal cannot be used, as sentences. */
export interface RefusedProposal {
  readonly problems: readonly string[];
}

/** The file of a proposed configuration. */
export const CONFIGURATION = 'service.yaml';

/** The most records of one proposal. A person reads them, and the comparison of more would take minutes. */
const RECORDS_MAX = 200;

/**
 * Compiles proposed documents together with the active ones, by the code that real policies go through, and compares
 * and lints the result. Takes seconds of processor time, so run it in a separate process.
 */
export async function examineProposal({
  files,
  config,
}: ProposalToExamine): Promise<ExaminedProposal | RefusedProposal> {
  const made = await loadPolicy(config);
  if (!made.ok)
    return {
      problems: [
        'The present policy is not valid, so nothing can be compared with it. Run `customshouse validate`.',
      ],
    };
  const before = made.policy;
  const settings = files.find(({ path }) => path === CONFIGURATION);
  const read = settings === undefined ? { config } : await readProposedConfig(settings.text, config);
  if ('problems' in read) return read;
  const documents = files.filter(({ path }) => path !== CONFIGURATION);
  const changes = documents.map(({ path, text }) => {
    return { path, action: 'create', before: null, after: null, text } as const;
  });
  const simulated = await simulateChange(read.config, changes);
  if (simulated.policy === null) return { problems: simulated.problems.map(formatForModel) };
  if (countNewRecords(before, simulated.policy) > RECORDS_MAX)
    return {
      problems: [`The files have more than ${RECORDS_MAX} rules, contracts and identities. Propose fewer.`],
    };
  return compareWithActive(before, simulated.policy);
}

async function compareWithActive(before: Policy, after: Policy): Promise<ExaminedProposal> {
  const { added, changed, removed, consequences, strictness } = comparePolicies(before, after);
  const letsThrough = listWeakenings(before, after, strictness);
  return {
    policy: after,
    changes: [
      ...added.map((record) => `+ ${record.kind} ${record.name}: ${record.summary}`),
      ...changed.map((record) => `~ ${record.kind} ${record.name}: ${record.summary}`),
      ...removed.map((record) => `- ${record.kind} ${record.name}: ${record.summary}`),
      ...consequences,
    ],
    weakens: letsThrough.length > 0,
    lets_through: letsThrough,
    remarks: await lintNewRecords(before, after),
  };
}

/**
 * Reads a proposed configuration in a temporary folder. It keeps the folders and the sections of features of the present
 * one, because a proposal may name neither.
 */
async function readProposedConfig(
  text: string,
  config: Config,
): Promise<{ readonly config: Config } | RefusedProposal> {
  const problems = await findConfigurationProblems(text);
  if (problems.length > 0) return { problems };
  const folder = await mkdtemp(join(tmpdir(), 'service-advisor-'));
  try {
    const path = join(folder, CONFIGURATION);
    await writeFile(path, text);
    const read = await loadConfigWith({ path, env: {}, cwd: folder, secrets: 'leave' }, []);
    if (!read.ok) return { problems: read.problems.map(formatForModel) };
    return { config: { ...config, ...read.config, state_dir: config.state_dir, origin: config.origin } };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Formats a problem without the path of a temporary folder. */
function formatForModel(problem: DocumentProblem): string {
  return formatProblem(problem).replaceAll(/\S*service-(?:advisor|skills)-\w+\//g, '');
}

function listRecords({ rules, contracts, identities }: Policy): readonly object[] {
  return [...rules, ...contracts, ...identities];
}

function countNewRecords(before: Policy, after: Policy): number {
  const known = new Set(listRecords(before).map((record) => JSON.stringify(record)));
  return listRecords(after).filter((record) => !known.has(JSON.stringify(record))).length;
}

async function lintNewRecords(before: Policy, after: Policy): Promise<readonly string[]> {
  const known = new Set(listRecords(before).map((record) => JSON.stringify(record)));
  const conditions = await loadConditions(after);
  return lintCompiledPolicy({ policy: after, conditions, tenants: null })
    .filter(({ record }) => !known.has(JSON.stringify(record)))
    .map(({ id, message }) => `${REMARK_LEVELS[id]}: ${message}`);
}
