/**
 * The named baseline: a bare Fastify route that parses and validates the same body, and returns a constant.
 * Prints its port. `run.ts` starts it, with a port to share with another process or without one.
 */
import Fastify, { type FastifyListenOptions } from 'fastify';

const app = Fastify({ logger: false });
app.post(
  '/v1/scan/input',
  {
    schema: {
      body: {
        type: 'object',
        required: ['text'],
        properties: {
          text: { type: 'string' },
          agent_id: { type: 'string' },
          context: {
            type: 'object',
            properties: { tool: { type: 'string' }, session_id: { type: 'string' } },
          },
        },
      },
    },
  },
  async () => ({ decision: 'allow', violations: [] }),
);
const where: FastifyListenOptions & { reusePort: true } = {
  host: '127.0.0.1',
  port: Number(process.argv[2] ?? 0),
  reusePort: true,
};
await app.listen(where);
const address = app.server.address();
process.stdout.write(`${typeof address === 'object' && address !== null ? address.port : 0}\n`);
