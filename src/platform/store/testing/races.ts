/** Runs the same work in several real processes against the same store at the same time. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Store, StoreSettings } from '../index.ts';

/** The arguments of a racer's work. Its result must be plain data. */
export interface Racer<Input> {
  readonly store: Store;
  /** From 0. */
  readonly number: number;
  readonly input: Input;
}

export interface Race<Input> {
  readonly settings: StoreSettings;
  /**
   * A module whose default export is `(racer: Racer) => Promise<Outcome>`. If the test has tables of its own, the
   * module also exports their `migrations`.
   */
  readonly work: URL;
  readonly input: Input;
  /** Default `RACERS`. */
  readonly processes?: number;
}

/** Each process imports the whole program, in two seconds of processor time. */
export const RACERS = process.env.NIGHTLY === undefined ? 4 : 8;

/** Runs the work in every process, after all have opened their store, and returns the results. */
export async function runRace<Outcome, Input = null>(race: Race<Input>): Promise<readonly Outcome[]> {
  const { settings, work, input, processes = RACERS } = race;
  const racers = Array.from({ length: processes }, (_, number) => {
    // Without a test file's flags, which load packages that no racer uses.
    const child = fork(new URL('racer.ts', import.meta.url), { execArgv: [], serialization: 'advanced' });
    const gone = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`racer ${number} ended (${signal ?? `code ${code}`}) before it was done`);
    });
    gone.catch(() => {});
    const readMessage = () => Promise.race([once(child, 'message'), gone]).then(([message]) => message);
    return { child, readMessage, number };
  });
  try {
    await Promise.all(
      racers.map(({ child, readMessage, number }) => {
        child.send({ settings, work: work.href, input, number });
        return readMessage();
      }),
    );
    return await Promise.all(
      racers.map(({ child, readMessage }) => {
        child.send('go');
        return readMessage() as Promise<Outcome>;
      }),
    );
  } finally {
    for (const { child } of racers) child.kill('SIGKILL');
  }
}
