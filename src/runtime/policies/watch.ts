import { join } from 'node:path';
import { findFiles, PATH_KEYS } from '../config/document-files.ts';
import { signFile } from '../config/file-signature.ts';
import type { Config } from '../config/index.ts';
import { LOCK_FILE } from '../packages/lock-name.ts';

/** The watched files: paths, whether they exist or not, and patterns relative to `base_dir`. */
export interface WatchList {
  readonly base_dir: string;
  readonly files: readonly string[];
  readonly patterns: readonly string[];
}

/** Calls `run` once after `delayMs`. Returns a function that cancels the call. */
export type ScheduleOnce = (run: () => void, delayMs: number) => () => void;

export interface WatchOptions {
  /** Called before each scan, because a reload can change the list. */
  readonly list: () => WatchList;
  /**
   * Called after a change, when the files have been stable for one interval. The next scan waits for its
   * promise.
   */
  readonly onChange: () => Promise<void> | void;
  /** Default 1000. */
  readonly interval_ms?: number;
  readonly later?: ScheduleOnce;
  readonly now_ms?: () => number;
}

export interface FileWatch {
  readonly close: () => void;
}

/** The number of scans after which a file that keeps changing is reported anyway. */
const UNSETTLED_LOOKS_MAX = 10;
/** The largest share of the time that scans can use. */
const DUTY = 0.05;

/**
 * Lists the configuration file (or its default path), every document that it names, and the files that define
 * which code can run.
 */
export function buildWatchList(config: Config): WatchList {
  const { file, base_dir } = config.origin;
  const own = file === null ? [join(base_dir, 'service.yaml'), join(base_dir, 'service.yml')] : [file];
  return {
    base_dir,
    files: config.plugins.files.length > 0 ? [...own, join(base_dir, LOCK_FILE)] : own,
    patterns: [...PATH_KEYS.flatMap((key) => config.paths[key]), ...config.plugins.files],
  };
}

/**
 * Scans the files once per second and reports changes: a file written, replaced, renamed, added, removed, or
 * reached through a changed link. Polling works on every file system, including mounted ones. A change is
 * reported after two equal scans, so that no file is read while it is written.
 */
export function watchFiles(options: WatchOptions): FileWatch {
  const { interval_ms = 1000, later = unrefTimeout, now_ms = Date.now } = options;
  let closed = false;
  let takeBack = (): void => {};
  let reported: string | null = null;
  let last: string | null = null;
  let unsettled = 0;

  async function look(): Promise<void> {
    const began = now_ms();
    const seen = await takeSnapshot(options.list());
    const tookMs = now_ms() - began;
    if (closed) return;
    reported ??= seen;
    unsettled = seen === reported || seen === last ? unsettled : unsettled + 1;
    const settled = seen === last || unsettled >= UNSETTLED_LOOKS_MAX;
    last = seen;
    if (seen !== reported && settled) {
      reported = seen;
      unsettled = 0;
      await options.onChange();
    }
    if (!closed) wait(Math.max(interval_ms, tookMs / DUTY));
  }

  function wait(delayMs: number): void {
    // The watch never ends. After a failed scan or reload, the next scan tries again.
    takeBack = later(() => void look().catch(() => wait(interval_ms)), delayMs);
  }

  void look().catch(() => wait(interval_ms));
  return {
    close: () => {
      closed = true;
      takeBack();
    },
  };
}

function unrefTimeout(run: () => void, delayMs: number): () => void {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}

/** One text that is the same exactly as long as nothing has changed. */
async function takeSnapshot(list: WatchList): Promise<string> {
  const paths = new Set(list.files);
  for (const pattern of list.patterns) {
    const { paths: found } = await findFiles(pattern, list.base_dir);
    for (const path of found) paths.add(path);
  }
  const lines: string[] = [];
  for (const path of paths) lines.push(`${path}\0${await signFile(path)}`);
  return lines.join('\n');
}
