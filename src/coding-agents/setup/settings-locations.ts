import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AgentSettings,
  defineSettingsFile,
  type InstalledHook,
  type SettingsLocation,
} from '../record/settings.ts';
import { readDocument } from './settings-document.ts';
import { readSettingsFile } from './settings-file.ts';

/** The most files that are read in one folder of settings. */
const FILES_MAX = 200;

/**
 * Returns the files of locations, with folders replaced by their `*.json` files in name order. A file may be missing.
 */
export async function listSettingsFiles(
  locations: readonly SettingsLocation[],
): Promise<readonly SettingsLocation[]> {
  const files = await Promise.all(
    locations.map(async (location) => {
      if (!location.is_folder) return [location];
      const names = await readdir(location.path).catch(() => []);
      return names
        .filter((name) => name.endsWith('.json'))
        .sort()
        .slice(0, FILES_MAX)
        .map((name) => defineSettingsFile(location.scope, join(location.path, name), location.format));
    }),
  );
  return files.flat();
}

/**
 * Returns the hooks in a settings file; none if there is no file.
 * @throws SettingsFailure if the file cannot be read
 */
export async function readInstalledHooks(
  { hook_format }: AgentSettings,
  { path, format }: SettingsLocation,
): Promise<readonly InstalledHook[]> {
  const { text } = await readSettingsFile(path);
  return text === null ? [] : hook_format.list(readDocument(text, format));
}
