import { buildEnum, buildSection, Type } from '../../core/schema.ts';

/** `cluster`: several nodes on one PostgreSQL. */
export const clusterSchema = buildSection(
  {
    enabled: Type.Boolean({
      default: false,
      description: 'This service is one node of several behind a load balancer, on one PostgreSQL.',
    }),
    node_id: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$',
        maxLength: 128,
        'x-expects': 'must be letters, digits, `_`, `.` and `-`, at most 128',
        description: 'The name of this node. Default: the name of the host.',
      }),
    ),
    notify: Type.Boolean({
      default: true,
      description:
        'Nodes tell each other about changes with `LISTEN` and `NOTIFY`. `false` for a pooler that lacks them: nodes then notice changes by polling.',
    }),
    on_partition: buildEnum(['block', 'stateless'], {
      default: 'block',
      description:
        'While this node cannot reach the database: `block` blocks all checks; `stateless` blocks only those that need sessions, tasks or approvals.',
    }),
    address: Type.Optional(
      Type.String({
        maxLength: 256,
        pattern: '^[A-Za-z0-9._:/\\[\\]-]+$',
        'x-expects': 'must be an address such as `http://10.0.0.5:8000`',
        description: 'The address of this node, shown to operators.',
      }),
    ),
    secret: Type.Optional(
      Type.String({
        minLength: 32,
        maxLength: 1_024,
        'x-credential': true,
        description:
          'From it each node derives the keys and tokens that all nodes share and that its state folder lacks, 32 characters or more. Without it, copy these files from the first node.',
      }),
    ),
  },
  {
    description:
      'Several nodes on one PostgreSQL ([guide](../how-to/run-a-cluster.md)). A change needs a restart.',
    default: {},
  },
);
