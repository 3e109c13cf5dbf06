/** The service log (diagnostics). */
export const logSchema = {
  type: 'object',
  description: 'The log of the service itself; nothing that was checked is ever in it.',
  additionalProperties: false,
  default: {},
  properties: {
    level: {
      type: 'string',
      enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      default: 'info',
      description: 'Lowest level that is written.',
    },
    format: {
      type: 'string',
      enum: ['auto', 'json', 'text'],
      default: 'auto',
      description:
        '`json`: one object a line. `text`: one line for people. `auto`: text on a terminal, else JSON.',
    },
  },
} as const;
