import { buildSection, Type } from '../../core/schema.ts';
import type { DriverEnvironment, PluginDriver, SecretBackend, SecretDriver } from './backend.ts';

/** A driver that a plug-in brings. It runs in a thread of its own. */
export const plugin = {
  name: 'plugin',
  docs: { reads: 'a [driver](plugins.md#drivers) of a plug-in', names: 'as the driver defines' },
  section: 'plugin',
  schema: Type.Optional(
    buildSection(
      {
        from: Type.String({
          minLength: 1,
          maxLength: 1024,
          description:
            'The plug-in, as `customshouse plugins list` shows it: a file or a package that `plugins` names.',
        }),
        driver: Type.String({ minLength: 1, maxLength: 64, description: 'The name of its driver.' }),
        settings: Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
          description: 'Options of the driver: texts by name.',
          propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_./-]{0,127}$' },
          maxProperties: 100,
          default: {},
        }),
      },
      { description: 'Used by `plugin`: a driver of a plug-in; see [drivers](plugins.md#drivers).' },
    ),
  ),
  open,
} as const satisfies SecretDriver<PluginDriver>;

function open(
  wanted: PluginDriver,
  { openPlugin }: Pick<DriverEnvironment, 'openPlugin'>,
): Promise<SecretBackend> {
  return openPlugin(wanted);
}
