import { SettingsFailure } from '../document.ts';
import type { SettingsPlace } from '../host.ts';
import { deleteSettings, type ReadFile, readSettings, removeFolders, writeSettings } from './files.ts';
import type { Part } from './parts.ts';
import { type Planned, planned, plannedAway, type Receipt, sha256Of } from './plan.ts';
import { dropReceipt, readReceipt, writeReceipt } from './receipts.ts';

/** What is wanted in one file. */
export interface Wish {
  readonly place: SettingsPlace;
  readonly parts: readonly Part[];
}

/** What becomes of one file. */
export interface SettingsChange {
  readonly path: string;
  /** Where the path is a link, or below one: what is written. */
  readonly real_path: string;
  readonly action: 'create' | 'change' | 'delete' | 'keep';
  readonly before: string | null;
  readonly after: string | null;
}

/** A change that was made. */
export interface Made extends SettingsChange {
  /** Whether it can be undone byte for byte; else entries are taken out one by one. */
  readonly has_receipt: boolean;
}

/** What is about to be changed. */
export interface OpenSetup {
  readonly changes: readonly SettingsChange[];
  /** Makes the changes, one file after the other; `made` hears of each. @throws SettingsFailure */
  readonly carryOut: (made: (change: Made) => void) => Promise<void>;
}

/**
 * Reads the files and plans what is to become of them: `enter` puts in what is wanted, `leave` takes out what is this
 * program's. Nothing is written before `carryOut`. `state_dir` holds how to undo it; `null` where it is not known.
 * @throws SettingsFailure naming the file that cannot be read or changed
 */
export async function openSetup(
  mode: 'enter' | 'leave',
  wishes: readonly Wish[],
  state_dir: string | null,
): Promise<OpenSetup> {
  const steps = await Promise.all(wishes.map((wish) => stepOf(mode, wish, state_dir)));
  return {
    changes: steps.map(({ change }) => change),
    carryOut: async (made) => {
      for (const step of steps.filter(({ change }) => change.action !== 'keep')) {
        const has_receipt = await named(step.change.path, () => carryOut(step, mode, state_dir));
        made({ ...step.change, has_receipt });
      }
      // Two files may share a folder that was made for the first of them.
      await removeFolders(steps.filter(({ change }) => change.action === 'delete').flatMap(foldersOf));
    },
  };
}

interface Step {
  readonly change: SettingsChange;
  readonly read: ReadFile;
  readonly plan: Planned;
  readonly receipt: Receipt | null;
}

async function stepOf(mode: 'enter' | 'leave', wish: Wish, state_dir: string | null): Promise<Step> {
  const { place, parts } = wish;
  return named(place.path, async () => {
    const read = await readSettings(place.path);
    const receipt = state_dir === null ? null : await readReceipt(state_dir, read.real_path);
    const before = read.text;
    const plan =
      mode === 'enter'
        ? planned(before, place.format, parts, receipt)
        : { after: plannedAway(before, place.format, parts, receipt), undo: [], created: false };
    const { after } = plan;
    const change = {
      path: place.path,
      real_path: read.real_path,
      action: actionOf(before, after),
      before,
      after,
    };
    return { change, read, plan, receipt };
  });
}

function actionOf(before: string | null, after: string | null): SettingsChange['action'] {
  if (before === after) return 'keep';
  if (before === null) return 'create';
  return after === null ? 'delete' : 'change';
}

async function carryOut(step: Step, mode: 'enter' | 'leave', state_dir: string | null): Promise<boolean> {
  const { read, plan, receipt } = step;
  const { after, undo, created } = plan;
  const folders = after === null ? [] : await writeSettings(read, after);
  if (after === null) await deleteSettings(read);
  if (state_dir === null) return false;
  // What was written stands, whether it can be undone to the byte or not.
  try {
    if (mode === 'leave') await dropReceipt(state_dir, read.real_path);
    else {
      const fresh = {
        created,
        folders: [...(receipt?.folders ?? []), ...folders],
        after_sha256: sha256Of(after ?? ''),
        undo,
      };
      writeReceipt(state_dir, read.real_path, fresh);
    }
    return true;
  } catch {
    return false;
  }
}

/** The folders that were made for a file: those that it is in, whatever a receipt says. */
function foldersOf({ read, receipt }: Step): readonly string[] {
  return (receipt?.folders ?? []).filter((folder) => read.real_path.startsWith(`${folder}/`));
}

/** Has a failure say of which file it speaks, and that this is as it was. */
export async function named<Result>(path: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof SettingsFailure)) throw error;
    throw new SettingsFailure(`\`${path}\` ${error.message}. That file was left as it is.`);
  }
}
