import {
  DRIVER_KINDS,
  DRIVER_STATUSES,
  type ServingProcess,
} from '../runtime/observability/service-state.ts';
import { defineOperation } from './operation.ts';

const processShape = {
  type: 'object',
  required: ['name', 'pid', 'started_at', 'generation'],
  properties: {
    name: { type: 'string', description: '`supervisor`, or the name of a worker.' },
    pid: { type: 'integer' },
    started_at: { type: 'string' },
    generation: {
      type: ['integer', 'null'],
      description: 'The generation of the policy that it uses; `null` if it did not answer in time.',
    },
  },
} as const;

export const serviceStatus = defineOperation({
  name: 'service_status',
  summary: 'Show processes and drivers',
  description:
    'Lists the processes of the service with the generation of their policy, and the parts that the configuration connects: store, secret backend, alert channels, identity providers, telemetry, advisor model. A check takes at most three seconds, and its answer is used for ten. No credential and no address is shown.',
  http: { method: 'GET', path: '/v1/dashboard/service' },
  permission: 'settings:read',
  for_users: true,
  needs: 'live',
  input: { type: 'object', properties: {} },
  output: {
    type: 'object',
    required: ['policy_hash', 'generation', 'processes', 'drivers'],
    properties: {
      policy_hash: { type: 'string' },
      generation: {
        type: ['integer', 'null'],
        description: 'The policies since the start, the active one included; `null` outside a service.',
      },
      processes: { type: 'array', items: processShape, description: 'The supervisor first.' },
      drivers: {
        type: 'array',
        items: {
          type: 'object',
          required: ['kind', 'name', 'driver', 'status', 'detail'],
          properties: {
            kind: { enum: DRIVER_KINDS },
            name: { type: 'string', description: 'The name in the configuration, or that of the driver.' },
            driver: { type: ['string', 'null'], description: '`null` if none is configured.' },
            status: {
              enum: DRIVER_STATUSES,
              description:
                '`unchecked`: nothing has used it yet, and a check would send something. `off`: not configured.',
            },
            detail: { type: ['string', 'null'] },
          },
        },
      },
    },
  },
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
