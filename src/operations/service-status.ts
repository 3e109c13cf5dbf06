import { Type } from '../core/schema.ts';
import {
  DRIVER_KINDS,
  DRIVER_STATUSES,
  type ServingProcess,
} from '../runtime/observability/service-state.ts';
import { defineOperation } from './operation.ts';

const processShape = Type.Object({
  name: Type.String({ description: '`supervisor`, or the name of a worker.' }),
  pid: Type.Integer(),
  started_at: Type.String(),
  generation: Type.Nullable(
    Type.Integer({
      description: 'The generation of the policy that it uses; `null` if it did not answer in time.',
    }),
  ),
});

export const serviceStatus = defineOperation({
  name: 'service_status',
  summary: 'Show processes and drivers',
  description:
    'Lists the processes of the service with the generation of their policy, and the parts that the configuration connects: store, secret backend, alert channels, identity providers, telemetry, advisor model. A check takes at most three seconds, and its answer is used for ten. No credential and no address is shown.',
  http: { method: 'GET', path: '/v1/dashboard/service' },
  permission: 'settings:read',
  for_users: true,
  needs: 'live',
  input: Type.Object({}),
  output: Type.Object({
    policy_hash: Type.String(),
    generation: Type.Nullable(
      Type.Integer({
        description: 'The policies since the start, the active one included; `null` outside a service.',
      }),
    ),
    processes: Type.Array(processShape, { description: 'The supervisor first.' }),
    drivers: Type.Array(
      Type.Object({
        kind: Type.Enum(DRIVER_KINDS),
        name: Type.String({ description: 'The name in the configuration, or that of the driver.' }),
        driver: Type.Nullable(Type.String({ description: '`null` if none is configured.' })),
        status: Type.Enum(DRIVER_STATUSES, {
          description:
            '`unchecked`: nothing has used it yet, and a check would send something. `off`: not configured.',
        }),
        detail: Type.Nullable(Type.String()),
      }),
    ),
  }),
  example: {},
  answer: null,
  refusals: ['unavailable'],
  async run(_input, { runtime }) {
    const [processes, drivers] = await Promise.all([runtime.processes(), runtime.drivers()]);
    return {
      policy_hash: processes?.policy_hash ?? runtime.policy().hash,
      generation: processes?.generation ?? null,
      processes: processes === null ? [] : [processes.supervisor, ...processes.workers].map(formatProcess),
      drivers: drivers.map((driver) => ({ ...driver })),
    };
  },
});

function formatProcess({ name, pid, started_ms, generation }: ServingProcess) {
  return { name, pid, started_at: new Date(started_ms).toISOString(), generation };
}
