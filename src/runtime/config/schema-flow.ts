import { buildEnum, buildSection, Type } from '../../core/schema.ts';

/** `flow`: where values come from. */
export const flowSchema = buildSection(
  {
    operator_prompts: Type.Array(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        'x-expects': 'must be the SHA-256 of a prompt, 64 lower-case hex digits',
      }),
      {
        maxItems: 10_000,
        default: [],
        description:
          'SHA-256 of each prompt of the operator, in hex, over its UTF-8 bytes. Only their values have the label `operator`.',
      },
    ),
    llm_user_role: buildEnum(['ignore', 'trust'], {
      default: 'ignore',
      description:
        'Meaning of the role `user` in the LLM proxy. `trust`: the newest message of that role is of a person, unless a part of it came from tools. Any program that calls the proxy can write this role.',
    }),
  },
  {
    description: 'Origins of the values in tool calls. A change needs a restart.',
    default: {},
  },
);
