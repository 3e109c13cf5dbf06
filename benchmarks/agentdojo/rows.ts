/** The configurations that `run.ts` compares, each as an operator would write it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface GuardRow {
  readonly name: string;
  /** `null`: no service runs. Otherwise the bundled skills that are added to it. */
  readonly skills: readonly string[] | null;
  /** Settings that differ from the defaults. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Policies and contracts that were written for these tools, in `rows/`. */
  readonly file?: string;
  /** The file is what `policy draft` proposes for the tool list, unedited. */
  readonly is_drafted?: true;
  /** The agent's program marks the prompt as a person's words, with a key that may do so. */
  readonly marks_prompts?: true;
  /** The agent's program creates a task for each prompt by `task_rule.py`, and names it in each call. */
  readonly creates_tasks?: true;
}

/**
 * `countLines` counts the lines of a row's file. A row that reads `ground_truth` is an oracle: its name says so, and it
 * does not count.
 */
export const GUARD_ROWS: readonly GuardRow[] = [
  { name: 'nothing', skills: null },
  { name: 'detectors', skills: [] },
  { name: 'unmasked', skills: [], config: { pii_protection: { action: 'flag' } } },
  { name: 'shield', skills: ['prompt-injection-shield'] },
  { name: 'trifecta', skills: ['lethal-trifecta'] },
  { name: 'tags', skills: ['lethal-trifecta'], file: 'tags.yaml' },
  {
    name: 'origins',
    skills: [],
    config: { pii_protection: { action: 'flag' } },
    file: 'origins.yaml',
    marks_prompts: true,
  },
  {
    name: 'draft',
    skills: [],
    config: { pii_protection: { action: 'flag' } },
    is_drafted: true,
    marks_prompts: true,
  },
  { name: 'tasks', skills: [], config: { pii_protection: { action: 'flag' } }, creates_tasks: true },
  {
    name: 'all',
    skills: [],
    config: { pii_protection: { action: 'flag' } },
    file: 'origins.yaml',
    marks_prompts: true,
    creates_tasks: true,
  },
];

export function readRowFile({ file }: GuardRow): string | null {
  return file === undefined ? null : readFileSync(join(import.meta.dirname, 'rows', file), 'utf8');
}

/** Counts the lines of a policy, without comments and blank lines. */
export function countLines(text: string | null): number {
  const lines = (text ?? '').split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#')).length;
}
