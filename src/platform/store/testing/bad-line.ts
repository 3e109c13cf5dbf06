/** A proxy between a program and a server that can go silent or drop its connections. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface BadLine {
  /** The server's URL with the proxy's port. */
  readonly url: string;
  /** Stops forwarding bytes, and keeps the connections open. */
  readonly goSilent: () => void;
  /** Closes all connections. New ones work again. */
  readonly cut: () => void;
  readonly close: () => Promise<void>;
}

/** Opens a proxy to the server of a URL. */
export async function openBadLine(serverUrl: string): Promise<BadLine> {
  const { port, hostname } = new URL(serverUrl);
  const open = new Set<Socket>();
  let isSilent = false;
  const line = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('data', (bytes) => isSilent || to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(line, 'listening');
  const url = new URL(serverUrl);
  url.port = `${(line.address() as { port: number }).port}`;
  const cut = (): void => {
    isSilent = false;
    for (const socket of open) socket.destroy();
  };
  return {
    url: url.href,
    goSilent: () => {
      isSilent = true;
    },
    cut,
    close: async () => {
      cut();
      line.close();
      await once(line, 'close');
    },
  };
}
