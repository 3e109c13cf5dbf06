import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { installed } from './document.ts';
import type { Host, InstalledHook, Scope, SettingsFormat, SettingsPlace } from './host.ts';
import { readSettings } from './setup/files.ts';

/** A place that is one file. */
export function file(scope: Scope, path: string, format: SettingsFormat = 'json'): SettingsPlace {
  return { scope, path, is_folder: false, format };
}

/** Folders of settings hold a handful of files; more than these are not looked at. */
const FILES_MAX = 200;

/** The files of places, folders opened, in the order of their names. Whether a file is there is not asked. */
export async function filesOf(places: readonly SettingsPlace[]): Promise<readonly SettingsPlace[]> {
  const files = await Promise.all(
    places.map(async (place) => {
      if (!place.is_folder) return [place];
      const names = await readdir(place.path).catch(() => []);
      return names
        .filter((name) => name.endsWith('.json'))
        .sort()
        .slice(0, FILES_MAX)
        .map((name) => file(place.scope, join(place.path, name), place.format));
    }),
  );
  return files.flat();
}

/**
 * The hooks that stand in a settings file; none where there is no file.
 * @throws SettingsFailure where it cannot be read
 */
export async function installedIn(
  host: Host,
  { path, format }: SettingsPlace,
): Promise<readonly InstalledHook[]> {
  const { text } = await readSettings(path);
  return text === null ? [] : installed(host, text, format);
}
