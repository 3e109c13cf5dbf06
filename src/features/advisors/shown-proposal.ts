/** The proposal that an advisor showed last. `--apply` installs that one: the model would write another. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdvisorResult } from '../../core/advisors/types.ts';
import { makeFolder } from '../../platform/files/folder.ts';
import type { Config } from '../../runtime/config/index.ts';
import { replaceDurably } from '../../runtime/skills/write-durably.ts';

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
export async function keepProposal(
  state_dir: string,
  question: ProposalQuestion,
  result: AdvisorResult,
): Promise<void> {
  makeFolder(join(state_dir, FOLDER));
  const path = getPath(state_dir, question);
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  await replaceDurably(path, JSON.stringify({ question, result }), temporary);
}

/** Returns the proposal that was shown for this question; `null` if the last one answered another question. */
export async function findProposal(
  state_dir: string,
  question: ProposalQuestion,
): Promise<AdvisorResult | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  const file = await open(getPath(state_dir, question), flags).catch(() => null);
  if (file === null) return null;
  try {
    const kept = JSON.parse(await file.readFile('utf8')) as { question: unknown; result: AdvisorResult };
    return JSON.stringify(kept.question) === JSON.stringify(question) ? kept.result : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  } finally {
    await file.close();
  }
}

/** Removes a proposal that was applied. */
export async function dropProposal(state_dir: string, question: ProposalQuestion): Promise<void> {
  await rm(getPath(state_dir, question), { force: true });
}

function getPath(state_dir: string, [command]: ProposalQuestion): string {
  return join(state_dir, FOLDER, `${command}.json`);
}
