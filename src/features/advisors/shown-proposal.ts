/** The proposal that an advisor showed last. `--apply` installs that one: the model would write another. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdvisorResult } from '../../core/advisors/types.ts';
import { readOwnFile } from '../../platform/files/own-file.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import type { Config } from '../../runtime/config/index.ts';

const FOLDER = 'advisor-proposals';

/**
 * The question that a proposal answers: the command, its options, the folder, and the hash of the policy that the proposal was
 * compared with.
 */
export type ProposalQuestion = readonly [command: string, ...rest: string[]];

/** The result of an advisor, and the question that it answers. */
export interface AnsweredQuestion {
  readonly result: AdvisorResult;
  readonly config: Config;
  readonly question: ProposalQuestion;
}

/** Keeps a proposal in place of the one that the command showed before. */
export function keepProposal(stateDir: string, question: ProposalQuestion, result: AdvisorResult): void {
  writePrivateFile(getPath(stateDir, question), JSON.stringify({ question, result }), 'replace');
}

/** Returns the proposal that was shown for this question; `null` if the last one answered another question. */
export async function findProposal(
  stateDir: string,
  question: ProposalQuestion,
): Promise<AdvisorResult | null> {
  const text = await readOwnFile(getPath(stateDir, question)).catch(() => null);
  if (text === null) return null;
  try {
    const kept = JSON.parse(text) as { question: unknown; result: AdvisorResult };
    return JSON.stringify(kept.question) === JSON.stringify(question) ? kept.result : null;
  } catch {
    return null;
  }
}

/** Removes a proposal that was applied. */
export async function dropProposal(stateDir: string, question: ProposalQuestion): Promise<void> {
  await rm(getPath(stateDir, question), { force: true });
}

function getPath(stateDir: string, [command]: ProposalQuestion): string {
  return join(stateDir, FOLDER, `${command}.json`);
}
