import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The routes of a Vault that the driver uses, over real HTTP, with the statuses and bodies of the real program. */
export interface VaultWire {
  readonly port: number;
  /** Replaces the fields of a secret, by its path below the mount `secret`; `null` deletes its latest version. */
  readonly put: (path: string, fields: Readonly<Record<string, unknown>> | null) => void;
  /** Replaces the answer to every request until it is reset with `null`. */
  readonly answer: (instead: ((response: ServerResponse) => void) | null) => void;
  /** Returns every request so far: method, URL and headers. */
  readonly asked: () => readonly { readonly url: string; readonly headers: IncomingMessage['headers'] }[];
  readonly close: () => Promise<void>;
}

/** Starts a server on a free port. It accepts only `token`. */
export async function startVaultWire(token: string): Promise<VaultWire> {
  const secrets = new Map<string, Readonly<Record<string, unknown>> | null>();
  const asked: { url: string; headers: IncomingMessage['headers'] }[] = [];
  let instead: ((response: ServerResponse) => void) | null = null;
  const server = createServer((request, response) => {
    asked.push({ url: request.url ?? '', headers: request.headers });
    if (instead !== null) return instead(response);
    if (request.headers['x-vault-token'] !== token)
      return send(response, 403, { errors: ['permission denied'] });
    const [path] = (request.url ?? '').split('?');
    if (path === '/v1/auth/token/lookup-self') return send(response, 200, { data: { policies: ['reader'] } });
    if (path?.startsWith('/v1/secret/data/') !== true)
      return send(response, 404, { errors: ['no handler for route'] });
    const name = decodeURIComponent(path.slice('/v1/secret/data/'.length));
    const fields = secrets.get(name);
    if (fields === undefined) return send(response, 404, { errors: [] });
    const metadata = {
      version: 1,
      destroyed: false,
      deletion_time: fields === null ? '2026-01-31T12:00:00Z' : '',
    };
    send(response, fields === null ? 404 : 200, { data: { data: fields, metadata } });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    put: (path, fields) => void secrets.set(path, fields),
    answer: (next) => {
      instead = next;
    },
    asked: () => asked,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
