import { listSettings } from '../runtime/config/effective.ts';
import { defineOperation, Refusal } from './operation.ts';

export const settingsShow = defineOperation({
  name: 'settings_show',
  summary: 'Show the effective settings',
  description:
    'Reads the configuration again and returns every setting with its value and its source. Credentials, and all values that come from a variable or a secret, are shown as `[set]`. A running service uses a changed setting after a reload, or after a restart for settings of the server.',
  http: { method: 'GET', path: '/v1/dashboard/settings' },
  permission: 'settings:read',
  for_users: true,
  needs: 'live',
  input: { type: 'object', properties: {} },
  output: {
    type: 'object',
    required: ['config_file', 'settings'],
    properties: {
      config_file: { type: ['string', 'null'], description: '`null` if every setting has its default.' },
      settings: {
        type: 'array',
        items: {
          type: 'object',
          required: ['path', 'value', 'source', 'line'],
          properties: {
            path: { type: 'string', description: 'Such as `server.port`.' },
            value: { description: 'The effective value as JSON.' },
            source: { enum: ['file', 'reference', 'default'] },
            line: { type: ['integer', 'null'], description: 'The line in the file.' },
          },
        },
      },
    },
  },
  example: {},
  answer: null,
  refusals: ['policy_invalid'],
  async run(_input, { runtime }) {
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
    const settings = await listSettings(read.config);
    return {
      config_file: read.config.origin.file,
      settings: settings.map((setting) => ({ ...setting })),
    };
  },
});
