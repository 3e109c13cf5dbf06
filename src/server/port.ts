import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartFailure } from '../platform/failure.ts';

const RETRY_MS = 50;
/** Workers of a service that was killed a moment ago let go of the port as soon as they notice. */
const PATIENCE_MS = 1_000;

/**
 * Finds out whether an address is free, and which port 0 comes to. Workers share the port among themselves, and
 * so would a second service: two of them would answer the same callers by different policies. So the address
 * is tried alone first.
 *
 * @throws StartFailure `address_in_use`, `address_unusable`
 */
export async function findFreePort(host: string, port: number): Promise<number> {
  for (let waited_ms = 0; ; waited_ms += RETRY_MS) {
    const tried = await tryAddress(host, port);
    if (typeof tried === 'number') return tried;
    if (tried !== 'EADDRINUSE' || waited_ms >= PATIENCE_MS) throw failure(host, port, tried);
    await sleep(RETRY_MS);
  }
}

/** The port, or the system's word for why not. */
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

function failure(host: string, port: number, code: string): StartFailure {
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
