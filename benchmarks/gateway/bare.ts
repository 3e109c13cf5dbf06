/**
 * The named baseline: a proxy on `node:http` that streams both ways and looks at nothing. Prints its port. Run by
 * `run.ts` with the port of the provider.
 */
import { Agent, request as ask, createServer } from 'node:http';

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

const server = createServer((request, response) => {
  const { method, url, headers } = request;
  const asked = ask({ host: '127.0.0.1', port, method, path: url, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  asked.once('error', () => response.destroy());
  // Who has gone away needs no answer any more.
  response.once('close', () => {
    if (!response.writableFinished) asked.destroy();
  });
  request.pipe(asked);
});
server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }, () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' && address !== null ? address.port : 0}\n`);
});
