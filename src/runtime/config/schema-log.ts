import { buildEnum, buildSection } from '../../core/schema.ts';

/** The service log (diagnostics). */
export const logSchema = buildSection(
  {
    level: buildEnum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      default: 'info',
      description: 'Lowest level that is written.',
    }),
    format: buildEnum(['auto', 'json', 'text'], {
      default: 'auto',
      description:
        '`json`: one object a line. `text`: one line for people. `auto`: text on a terminal, else JSON.',
    }),
  },
  { description: 'The log of the service itself; nothing that was checked is ever in it.', default: {} },
);
