import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Simulates the network in front of a server: it forwards, refuses, or accepts everything and never answers. */
export interface Gate {
  readonly port: number;
  readonly set: (state: 'open' | 'shut' | 'silent') => void;
  readonly close: () => Promise<void>;
}

/** Opens a gate in front of a port of this machine. */
export async function openGate(targetPort: number): Promise<Gate> {
  let state: 'open' | 'shut' | 'silent' = 'open';
  const sockets = new Set<Socket>();
  const hold = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((incoming) => {
    hold(incoming);
    if (state === 'shut') incoming.destroy();
    if (state !== 'open') return;
    const outgoing = hold(connect(targetPort, '127.0.0.1'));
    incoming.pipe(outgoing).pipe(incoming);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    set: (next) => {
      state = next;
      // Existing keep-alive connections would otherwise pass a closed gate.
      dropAll();
    },
    close: async () => {
      server.close();
      dropAll();
      await once(server, 'close');
    },
  };
}
