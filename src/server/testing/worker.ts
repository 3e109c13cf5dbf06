/** A worker with a minimal transport, for tests of the code between a worker and its parent. */
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Runtime } from '../../operations/runtime.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { runWorker } from '../worker.ts';
import { buildExampleCrossing } from './examples.ts';

const caller: Caller = { id: 'test', kind: 'person', permissions: [], tenants: '*', agents: '*' };

type Body = Readonly<Record<string, string & number>>;

const routes: Readonly<Record<string, (runtime: Runtime, body: Body) => Promise<unknown>>> = {
  '/check': async (runtime, { text = '', agent_id = 'unknown', delay_ms = 0 }) => {
    await sleep(delay_ms);
    const nowMs = runtime.now_ms();
    const ruling = await runtime.enforce(
      buildExampleCrossing(text, { agent_id, now_ms: nowMs }),
      caller,
      'scan_input',
    );
    const { decision, policy_hash, rule } = ruling.verdict;
    return { decision, rule, policy_hash, event_id: ruling.event_id, pid: process.pid };
  },
  '/agents': (runtime) => runtime.agentsSeen(),
  '/metrics': async (runtime) => ({ text: await runtime.metricsText() }),
  '/query': (runtime, body) => runtime.queryAudit(body),
  '/ready': async (runtime) => ({ ready: await runtime.ready() }),
  '/reload': (runtime) => runtime.reload(caller),
  '/crash': async () => {
    setImmediate(() => {
      throw new SyntaxError('a message with a secret in it');
    });
  },
};

runWorker(async ({ runtime, host, port }) => {
  const server = createServer((request, response) => {
    // Uses one connection per request, so that the kernel spreads the requests over the workers.
    response.setHeader('connection', 'close');
    answer(runtime, request).then(
      (value) => response.end(JSON.stringify(value)),
      (error: Error) => response.writeHead(500).end(JSON.stringify({ error: error.message })),
    );
  });
  const address: Parameters<typeof server.listen>[0] & { reusePort: true } = { host, port, reusePort: true };
  await new Promise<void>((resolve) => server.listen(address, resolve));
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
});

async function answer(runtime: Runtime, request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += chunk;
  const route = routes[request.url ?? ''];
  if (route === undefined) throw new Error('no such route');
  return (await route(runtime, JSON.parse(text || '{}'))) ?? null;
}
