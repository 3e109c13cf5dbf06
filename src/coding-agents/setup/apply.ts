import { hashText } from '../../platform/hash-text.ts';
import type { SettingsLocation } from '../record/settings.ts';
import type { SettingsPart } from './parts.ts';
import { type PlannedText, planInstall, planUninstall, type UndoReceipt } from './plan.ts';
import { deleteReceipt, readReceipt, writeReceipt } from './receipts.ts';
import { SettingsFailure } from './settings-document.ts';
import {
  deleteSettingsFile,
  type ReadSettings,
  readSettingsFile,
  removeFolders,
  writeSettingsFile,
} from './settings-file.ts';

export type SetupMode = 'install' | 'uninstall';

/** The parts that belong in one file. */
export interface FileRequest {
  readonly location: SettingsLocation;
  readonly parts: readonly SettingsPart[];
}

/** The change of one file. */
export interface SettingsChange {
  readonly path: string;
  /** The path that is written: `path` without symbolic links. */
  readonly real_path: string;
  readonly action: 'create' | 'change' | 'delete' | 'keep';
  readonly before: string | null;
  readonly after: string | null;
}

/** A change that was written. */
export interface AppliedSettingsChange extends SettingsChange {
  /** True if it can be undone byte for byte. Otherwise uninstalling removes the entries one by one. */
  readonly has_receipt: boolean;
}

/** The changes of several files, not yet written. */
export interface SetupPlan {
  readonly changes: readonly SettingsChange[];
  /** Writes the changes in order, and calls `onApplied` after each. @throws SettingsFailure */
  readonly apply: (onApplied: (change: AppliedSettingsChange) => void) => Promise<void>;
}

/**
 * Reads the files and plans their changes. Nothing is written before `apply`.
 * @param stateDir the folder of undo receipts; `null` if it is not known
 * @throws SettingsFailure with the path of the file that cannot be read or changed
 */
export async function planSetup(
  mode: SetupMode,
  requests: readonly FileRequest[],
  stateDir: string | null,
): Promise<SetupPlan> {
  const steps = await Promise.all(requests.map((request) => planStep(mode, request, stateDir)));
  return {
    changes: steps.map(({ change }) => change),
    apply: async (onApplied) => {
      for (const step of steps.filter(({ change }) => change.action !== 'keep')) {
        const hasReceipt = await addPathToError(step.change.path, () => applyStep(step, mode, stateDir));
        onApplied({ ...step.change, has_receipt: hasReceipt });
      }
      // Two files may share a folder that setup created for the first of them.
      await removeFolders(
        steps.filter(({ change }) => change.action === 'delete').flatMap(listCreatedFolders),
      );
    },
  };
}

interface SetupStep {
  readonly change: SettingsChange;
  readonly read: ReadSettings;
  readonly plan: PlannedText;
  readonly receipt: UndoReceipt | null;
}

async function planStep(
  mode: SetupMode,
  { location, parts }: FileRequest,
  stateDir: string | null,
): Promise<SetupStep> {
  return addPathToError(location.path, async () => {
    const read = await readSettingsFile(location.path);
    const receipt = stateDir === null ? null : await readReceipt(stateDir, read.real_path);
    const before = read.text;
    const plan =
      mode === 'install'
        ? planInstall(before, location.format, parts, receipt)
        : { after: planUninstall(before, location.format, parts, receipt), undo: [], created: false };
    const { after } = plan;
    const change = {
      path: location.path,
      real_path: read.real_path,
      action: chooseAction(before, after),
      before,
      after,
    };
    return { change, read, plan, receipt };
  });
}

function chooseAction(before: string | null, after: string | null): SettingsChange['action'] {
  if (before === after) return 'keep';
  if (before === null) return 'create';
  return after === null ? 'delete' : 'change';
}

/** Writes one change. Returns whether its undo receipt was saved. */
async function applyStep(step: SetupStep, mode: SetupMode, stateDir: string | null): Promise<boolean> {
  const { read, plan, receipt } = step;
  const { after, undo, created } = plan;
  const folders = after === null ? [] : await writeSettingsFile(read, after);
  if (after === null) await deleteSettingsFile(read);
  if (stateDir === null) return false;
  // The change is valid even if its receipt cannot be saved.
  try {
    if (mode === 'uninstall') await deleteReceipt(stateDir, read.real_path);
    else {
      const fresh = {
        created,
        folders: [...(receipt?.folders ?? []), ...folders],
        after_sha256: hashText(after ?? ''),
        undo,
      };
      writeReceipt(stateDir, read.real_path, fresh);
    }
    return true;
  } catch {
    return false;
  }
}

/** Returns the folders that setup created for a file. A receipt may name only folders that contain the file. */
function listCreatedFolders({ read, receipt }: SetupStep): readonly string[] {
  return (receipt?.folders ?? []).filter((folder) => read.real_path.startsWith(`${folder}/`));
}

/** Runs a function, and puts the path of the file into the message of a `SettingsFailure`. */
export async function addPathToError<Result>(path: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof SettingsFailure)) throw error;
    throw new SettingsFailure(`\`${path}\` ${error.message}. The file was not changed.`);
  }
}
