import type { Scope } from '../../../coding-agents/hosts/index.ts';

export type Status = 'ok' | 'warn' | 'fail';

/** What was looked at, as far as it has a place. */
export interface Place {
  readonly host: string | null;
  readonly scope: Scope | null;
  readonly file: string | null;
  readonly event: string | null;
}

/** One thing that was looked at, and how it stands. */
export interface Check extends Place {
  readonly status: Status;
  /** Stable, for programs: `hook.blocks`. */
  readonly name: string;
  /** One sentence. */
  readonly message: string;
  /** What to do next; `null`: nothing. */
  readonly next: string | null;
}

/** Of no host, no file and no event. */
export const NOWHERE: Place = { host: null, scope: null, file: null, event: null };

/** Something that is as it should be. */
export function ok(name: string, place: Place, message: string): Check {
  return { status: 'ok', name, ...place, message, next: null };
}

/** Something that a person should know, and may have meant so. */
export function warn(name: string, place: Place, message: string, next: string | null): Check {
  return { status: 'warn', name, ...place, message, next };
}

/** Something that keeps tools from being asked about, or work from being done. */
export function fail(name: string, place: Place, message: string, next: string): Check {
  return { status: 'fail', name, ...place, message, next };
}

/** The worst of several. */
export function worstOf(checks: readonly Check[]): Status {
  if (checks.some(({ status }) => status === 'fail')) return 'fail';
  return checks.some(({ status }) => status === 'warn') ? 'warn' : 'ok';
}
