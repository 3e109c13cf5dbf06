import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartFailure } from '../platform/failure.ts';

const RETRY_MS = 50;
/** The workers of a service that was just killed release the port as soon as they notice, within this time. */
const PATIENCE_MS = 1_000;

/**
 * Checks that an address is free, and resolves port 0 to a real port. Workers share their port, so a second
 * service could listen on it too, and both would answer the same callers with different policies. So this
 * function first binds the address exclusively.
 *
 * @throws StartFailure `address_in_use`, `address_unusable`
 */
export async function findFreePort(host: string, port: number): Promise<number> {
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    const tried = await tryAddress(host, port);
    if (typeof tried === 'number') return tried;
    if (tried !== 'EADDRINUSE' || waitedMs >= PATIENCE_MS) throw buildPortFailure(host, port, tried);
    await sleep(RETRY_MS);
  }
}

/** Returns the port, or the system's error code. */
function tryAddress(host: string, port: number): Promise<number | string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'UNKNOWN'));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}

function buildPortFailure(host: string, port: number, code: string): StartFailure {
  const address = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    return new StartFailure(
      'address_in_use',
      `Another program listens on ${address}. Stop it, or choose another port with \`--port\`.`,
    );
  }
  const why = code === 'EACCES' ? 'this user may not (ports below 1024 need a right of their own)' : code;
  return new StartFailure(
    'address_unusable',
    `The service cannot listen on ${address}: ${why}. Set \`server.host\` and \`server.port\`.`,
  );
}
