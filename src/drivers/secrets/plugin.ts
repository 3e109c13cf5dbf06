import type { DriverEnvironment, PluginDriver, SecretBackend, SecretDriver } from './backend.ts';

/** A driver that a plug-in brings. It runs in a thread of its own. */
export const plugin = {
  name: 'plugin',
  docs: { reads: 'a [driver](plugins.md#drivers) of a plug-in', names: 'as the driver defines' },
  section: 'plugin',
  schema: {
    type: 'object',
    description: 'Used by `plugin`: a driver of a plug-in; see [drivers](plugins.md#drivers).',
    additionalProperties: false,
    required: ['from', 'driver'],
    properties: {
      from: {
        type: 'string',
        minLength: 1,
        maxLength: 1024,
        description:
          'The plug-in, as `customshouse plugins list` shows it: a file or a package that `plugins` names.',
      },
      driver: { type: 'string', minLength: 1, maxLength: 64, description: 'The name of its driver.' },
      settings: {
        type: 'object',
        description: 'Options of the driver: texts by name.',
        additionalProperties: { type: 'string', maxLength: 8192 },
        propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_./-]{0,127}$' },
        maxProperties: 100,
        default: {},
      },
    },
  },
  open,
} as const satisfies SecretDriver<PluginDriver>;

function open(
  wanted: PluginDriver,
  { openPlugin }: Pick<DriverEnvironment, 'openPlugin'>,
): Promise<SecretBackend> {
  return openPlugin(wanted);
}
