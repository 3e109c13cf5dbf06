/** The readers of text from outside, with the constructs that each reads, for tests and benchmarks of their cost. */
import { judgeScript } from '../detect/commands/judge.ts';
import { detect } from '../detect/detect.ts';
import { collectToolFacts } from '../detect/facts/facts.ts';
import type { Content } from '../types/index.ts';
import {
  type Construct,
  FACT_CONSTRUCTS,
  JSON_CONSTRUCTS,
  SCRIPT_CONSTRUCTS,
  TEXT_CONSTRUCTS,
} from './constructs.ts';
import { DETECTION, POLICY_SETTINGS } from './policies.ts';

const { limits } = POLICY_SETTINGS;
const CALL = { tool: 'Bash', working_dir: '/work' };

const buildArguments = (value: Readonly<Record<string, string>>): Content => ({ kind: 'json', value });

/** A reader of text from outside, and the constructs that it reads. */
export interface Reader {
  readonly read: (text: string) => unknown;
  readonly constructs: readonly Construct[];
}

export const READERS: Readonly<Record<string, Reader>> = {
  scripts: { read: (text) => judgeScript(text), constructs: SCRIPT_CONSTRUCTS },
  'facts of scripts': {
    read: (text) => collectToolFacts(buildArguments({ command: text }), [], limits, CALL),
    constructs: SCRIPT_CONSTRUCTS,
  },
  facts: {
    read: (text) =>
      collectToolFacts(buildArguments({ path: text, url: text, sql: `select 1 ${text}` }), [], limits, CALL),
    constructs: FACT_CONSTRUCTS,
  },
  documents: {
    read: (text) => detect({ kind: 'text', text }, DETECTION, limits),
    constructs: JSON_CONSTRUCTS,
  },
  'documents in arguments': {
    read: (text) => detect(buildArguments({ command: text, input: text }), DETECTION, limits, CALL),
    constructs: JSON_CONSTRUCTS,
  },
  texts: {
    read: (text) => detect({ kind: 'text', text }, DETECTION, limits),
    constructs: TEXT_CONSTRUCTS,
  },
};
