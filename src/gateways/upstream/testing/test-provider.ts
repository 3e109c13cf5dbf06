import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A request as received by the provider. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  /** Alternating names and values, as written. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** A test provider and the requests that it received. */
export interface TestProvider {
  readonly url: string;
  /** The received requests, oldest first. */
  readonly requests: ReceivedRequest[];
  /** Resolves when a connection was closed before its answer was complete. */
  readonly disconnected: Promise<void>;
}

/** Writes the response to a request. `number` counts the requests. */
export type ProviderHandler = (response: ServerResponse, got: ReceivedRequest, number: number) => void;

/** Opens a real HTTP server on loopback that answers as the test defines. It closes with the test. */
export async function startTestProvider(t: TestContext, answers: ProviderHandler): Promise<TestProvider> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let leave = () => {};
  const disconnected = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) leave();
    });
    const body = await getText(request);
    const { method = '', url: path = '', rawHeaders: headers } = request;
    answers(response, requests[requests.push({ method, path, headers, body }) - 1]!, requests.length);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, disconnected };
}

async function getText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // The client has disconnected, so the received part is all there is.
  }
  return Buffer.concat(chunks).toString();
}
