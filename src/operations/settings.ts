import { Type } from '../core/schema.ts';
import type { EffectiveSetting } from '../runtime/config/effective.ts';
import { signFile } from '../runtime/config/file-signature.ts';
import { defineOperation, Refusal } from './operation.ts';
import type { Runtime } from './runtime.ts';

export const settingsShow = defineOperation({
  name: 'settings_show',
  summary: 'Show the effective settings',
  description:
    'Returns every setting of the configuration file, as it is now, with its value and its source. The file is read again only if it has changed. Credentials, and all values that come from a variable or a secret, are shown as `[set]`. A running service uses a changed setting after a reload, or after a restart for settings of the server.',
  http: { method: 'GET', path: '/v1/dashboard/settings' },
  permission: 'settings:read',
  for_users: true,
  needs: 'live',
  input: Type.Object({}),
  output: Type.Object({
    config_file: Type.Nullable(Type.String({ description: '`null` if every setting has its default.' })),
    settings: Type.Array(
      Type.Object({
        path: Type.String({ description: 'Such as `server.port`.' }),
        value: Type.Unknown({ description: 'The effective value as JSON.' }),
        source: Type.Enum(['file', 'reference', 'default']),
        line: Type.Nullable(Type.Integer({ description: 'The line in the file.' })),
      }),
    ),
  }),
  example: {},
  answer: null,
  refusals: ['policy_invalid'],
  async run(_input, { runtime }) {
    const { config_file, settings } = await readSettings(runtime);
    return { config_file, settings: settings.map((setting) => ({ ...setting })) };
  },
});

interface KnownSettings {
  readonly config_file: string | null;
  readonly settings: readonly EffectiveSetting[];
  /** The files that were read: the configuration, and those that its sections name. */
  readonly files: readonly string[];
  /** The signatures of the files before they were read; `null` if their names were not known then. */
  readonly signature: string | null;
}

const knownSettings = new WeakMap<Runtime, KnownSettings>();

/** Returns the settings, from memory if no file has changed since it was read. */
async function readSettings(runtime: Runtime): Promise<KnownSettings> {
  const known = knownSettings.get(runtime);
  const files = known?.files ?? [];
  const signature = files.length === 0 ? null : (await Promise.all(files.map(signFile))).join(' ');
  if (known !== undefined && signature !== null && signature === known.signature) return known;
  const read = await runtime.configuration();
  if (!read.ok)
    throw new Refusal(
      'policy_invalid',
      'The configuration cannot be read; the service still runs with the previous one. The details list the problems.',
      read.problems.map(({ file, path, message }) => ({
        path: path === '' ? file : `${file}: ${path}`,
        message,
      })),
    );
  const { listSettings } = await import('../runtime/config/effective.ts');
  const { config, files: readFiles, schema } = read;
  const next: KnownSettings = {
    config_file: config.origin.file,
    settings: await listSettings(config, schema),
    files: readFiles,
    // A signature of other files says nothing about these.
    signature: readFiles.join() === files.join() ? signature : null,
  };
  knownSettings.set(runtime, next);
  return next;
}
