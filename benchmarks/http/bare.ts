/**
 * The named baseline: a bare Fastify route that parses and validates the same body, and answers a constant.
 * Prints its port. Run by `run.ts`.
 */
import Fastify from 'fastify';

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
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
process.stdout.write(`${typeof address === 'object' && address !== null ? address.port : 0}\n`);
