import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestCertificate } from '../../../platform/net/testing/certificate.ts';
import type { ChannelEnvironment } from '../channel.ts';

/** A request that a receiver got. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
}

/** The parts of the process that channels use in tests: no proxy, and a fixed time. */
export const testEnvironment: ChannelEnvironment = {
  env: {},
  now_ms: () => Date.parse('2026-11-23T03:09:00.000Z'),
};

/** Runs `work` with an HTTP server on a free port of the loopback interface, which records each request. */
export async function withReceiver<Result>(
  respond: (response: ServerResponse, request: ReceivedRequest) => void,
  work: (receiver: Receiver) => Promise<Result>,
  certificate?: TestCertificate,
): Promise<Result> {
  const requests: ReceivedRequest[] = [];
  const server = certificate === undefined ? createServer() : createSecureServer({ ...certificate });
  server.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const received = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') };
      requests.push(received);
      respond(response, received);
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address() as AddressInfo;
  try {
    const scheme = certificate === undefined ? 'http' : 'https';
    return await work({ url: `${scheme}://localhost:${port}`, requests });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
