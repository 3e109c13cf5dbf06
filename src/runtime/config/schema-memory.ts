// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
const master_key = {
  type: 'string',
  minLength: 32,
  maxLength: 4096,
  'x-credential': true,
} as const;

/** `memory`: the memory of agents. Memory documents define its contents and retention. */
export const memorySectionSchema = {
  type: 'object',
  description: 'Memory of agents. A change needs a restart.',
  additionalProperties: false,
  default: {},
  properties: {
    master_key: {
      ...master_key,
      description:
        'Key from which the key of each agent is derived: at least 32 characters, `${NAME}`. Without it the service creates `memory-key` in the state folder. Services that share a store need the same one.',
    },
    previous_keys: {
      type: 'array',
      maxItems: 16,
      default: [],
      items: master_key,
      description:
        'Former values of `master_key`, each as `${NAME}`. Entries under these keys are encrypted again in the background.',
    },
    agent_entries_max: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000_000,
      default: 10_000,
      description: 'Entries of one agent, all its sessions and users together.',
    },
    agent_bytes_max: {
      type: 'integer',
      minimum: 1,
      maximum: 1_099_511_627_776,
      default: 67_108_864,
      description: 'Bytes of all values of one agent, as JSON.',
    },
  },
} as const;
