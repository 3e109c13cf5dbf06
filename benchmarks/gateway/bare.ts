/**
 * The named baseline: a proxy on `node:http` that streams in both directions and scans nothing. Prints its
 * port. `run.ts` starts it with the port of the provider.
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
  // A client that has disconnected needs no response.
  response.once('close', () => {
    if (!response.writableFinished) asked.destroy();
  });
  request.pipe(asked);
});
server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }, () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' && address !== null ? address.port : 0}\n`);
});
