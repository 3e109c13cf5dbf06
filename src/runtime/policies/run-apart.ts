import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LintRemark } from '../../core/review/lint/remark.ts';
import type { Policy } from '../../core/types/index.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import { parseFilter } from '../audit/filter.ts';
import type { ReplayFilter, ReplayReport } from './replay.ts';

/** A replay for another process: plain data. */
export interface ReplayRequest {
  /** The folder with `journal` and `policies`. */
  readonly state_dir: string;
  readonly next: Policy;
  /** The active policy, which need not be saved. */
  readonly active: Policy;
  readonly filter: ReplayFilter;
  readonly now_ms: number;
}

/** The only message to the process. */
export type ApartRequest =
  | { readonly kind: 'replay'; readonly replay: ReplayRequest }
  | { readonly kind: 'lint'; readonly policy: Policy };

/** The only message of the process. */
export type ApartAnswer = { readonly result: unknown } | { readonly error: string };

const WORK_MS_MAX = 15 * 60_000;

/**
 * Replays recorded decisions in a process of its own with low priority, because a replay reads the whole journal, and
 * decisions must not wait for it. The process ends with this one.
 *
 * @throws AuditFilterError if the filter is not valid
 * @throws Unavailable if the process fails, takes more than 15 minutes, or is stopped by the signal
 */
export function replayApart(replay: ReplayRequest, signal?: AbortSignal): Promise<ReplayReport> {
  parseFilter({ ...replay.filter }, replay.now_ms);
  return runApart({ kind: 'replay', replay }, signal) as Promise<ReplayReport>;
}

/** Lints a compiled policy in a process of its own, for the same reason. @throws Unavailable as `replayApart` does */
export function lintApart(policy: Policy, signal?: AbortSignal): Promise<readonly LintRemark[]> {
  return runApart({ kind: 'lint', policy }, signal) as Promise<readonly LintRemark[]>;
}

function runApart(request: ApartRequest, signal: AbortSignal | undefined): Promise<unknown> {
  // The TypeScript source and the compiled program have the same layout and differ in the file extension.
  const program = fileURLToPath(new URL(`./apart-process${extname(import.meta.url)}`, import.meta.url));
  const child = fork(program, [], {
    ...{ env: {}, execArgv: [], serialization: 'advanced', timeout: WORK_MS_MAX, killSignal: 'SIGKILL' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    ...(signal !== undefined && { signal }),
  });
  return readAnswer(child, request);
}

const FAILURES = {
  replay: 'The recorded decisions were not replayed',
  lint: 'The policy was not linted',
} as const;

function readAnswer(child: ChildProcess, request: ApartRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void =>
      reject(new Unavailable(`${FAILURES[request.kind]}: ${reason}`, null));
    child.once('message', (answer: ApartAnswer) => {
      if ('result' in answer) resolve(answer.result);
      else fail(answer.error);
    });
    child.once('error', () => fail('the process was stopped, or did not start.'));
    child.once('exit', () =>
      fail('the process ended before its result, or took more than 15 minutes. Choose a shorter period.'),
    );
    child.send(request, (error) => {
      if (error !== null) fail('the process could not be reached. Try again.');
    });
  });
}
