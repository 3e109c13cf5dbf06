// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import type { Static } from 'typebox';
import { buildSection, Type } from '../../core/schema.ts';
import { defineConfigSection } from '../../runtime/config/sections.ts';

declare module '../../runtime/config/schema.ts' {
  interface FeatureSections {
    readonly memory: Static<typeof memorySectionSchema>;
  }
}

const masterKey = Type.String({ minLength: 32, maxLength: 4096, 'x-credential': true });

/** `memory`: the memory of agents. Memory documents define its contents and retention. */
const memorySectionSchema = buildSection(
  {
    master_key: Type.Optional({
      ...masterKey,
      description:
        'Key from which the key of each agent is derived: at least 32 characters, `${NAME}`. Without it the service creates `memory-key` in the state folder. Services that share a store need the same one.',
    }),
    previous_keys: Type.Array(masterKey, {
      maxItems: 16,
      default: [],
      description:
        'Former values of `master_key`, each as `${NAME}`. Entries under these keys are encrypted again in the background.',
    }),
    agent_entries_max: Type.Integer({
      minimum: 1,
      maximum: 10_000_000,
      default: 10_000,
      description: 'Entries of one agent, all its sessions and users together.',
    }),
    agent_bytes_max: Type.Integer({
      minimum: 1,
      maximum: 1_099_511_627_776,
      default: 67_108_864,
      description: 'Bytes of all values of one agent, as JSON.',
    }),
  },
  { description: 'Memory of agents. A change needs a restart.', default: {} },
);

export const memorySection = defineConfigSection({
  name: 'memory',
  after: 'storage',
  schema: memorySectionSchema,
});
