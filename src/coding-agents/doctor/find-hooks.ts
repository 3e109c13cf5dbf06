import { readFile, realpath, stat } from 'node:fs/promises';
import type { CodingAgent } from '../record/coding-agent.ts';
import { type ConfiguredHook, isObject, readMembersAt, type SettingsFile } from '../record/doctor.ts';
import { buildFailedCheck, type CheckSubject, type DoctorCheck } from '../record/doctor-check.ts';
import type { AgentSettings, InstalledHook, Machine, SettingsLocation } from '../record/settings.ts';
import { readDocument, SettingsFailure } from '../setup/settings-document.ts';
import { listSettingsFiles } from '../setup/settings-locations.ts';

/** The largest settings file that is read, in bytes. */
const FILE_BYTES_MAX = 4_194_304;

/** The settings files of one agent. */
export interface AgentFiles {
  readonly files: readonly SettingsFile[];
  /** A failed check for each file that exists and cannot be read. */
  readonly checks: readonly DoctorCheck[];
}

/** Reads the settings files of an agent, of all scopes. */
export async function readAgentFiles(agent: CodingAgent, machine: Machine): Promise<AgentFiles> {
  const { settings } = agent;
  const checks: DoctorCheck[] = [];
  const files: SettingsFile[] = [];
  for (const location of await listSettingsFiles(settings.locations(machine))) {
    try {
      const file = await readSettingsAt(settings, location);
      if (file !== null) files.push(file);
    } catch (error) {
      const { scope, path } = location;
      checks.push(reportUnreadable({ coding_agent: agent.name, scope, file: path, event: null }, error));
    }
  }
  return { files, checks };
}

/** Returns `null` if there is no file. */
async function readSettingsAt(
  { hook_format }: AgentSettings,
  location: SettingsLocation,
): Promise<SettingsFile | null> {
  const { path, format } = location;
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (stats === null) return null;
  if (!stats.isFile()) throw new SettingsFailure('is no file');
  if (stats.size > FILE_BYTES_MAX) throw new SettingsFailure(`has more than ${FILE_BYTES_MAX} bytes`);
  const document = readDocument(await readFile(path, 'utf8'), format);
  const all = hook_format.list(document);
  const ours = all.filter(({ is_ours }) => is_ours);
  return {
    location,
    real_path: await realpath(path),
    document,
    hooks: ours.map((hook) => readConfiguredHook(hook, readMembersAt(document, hook.path))),
    other_count: all.length - ours.length,
    mtime_ms: stats.mtimeMs,
  };
}

function reportUnreadable(subject: CheckSubject, error: unknown): DoctorCheck {
  const { message, code } = error as NodeJS.ErrnoException;
  const what = error instanceof SettingsFailure ? message : `cannot be read (${code ?? 'unknown'})`;
  return buildFailedCheck(
    'settings.readable',
    subject,
    `The file ${what}, so the agent may run no hook in it.`,
    'Fix the file, or delete it and run `customshouse setup` again.',
  );
}

function readConfiguredHook(hook: InstalledHook, entry: Readonly<Record<string, unknown>>): ConfiguredHook {
  const env = isObject(entry.env) ? entry.env : {};
  return {
    ...hook,
    cwd: typeof entry.cwd === 'string' ? entry.cwd : null,
    env: Object.fromEntries(Object.entries(env).filter(([, value]) => typeof value === 'string')) as Record<
      string,
      string
    >,
    in_background: entry.async === true || entry.asyncRewake === true,
  };
}
