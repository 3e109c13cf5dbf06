/**
 * The scripted server on standard input and output. `SCRIPT` is a JSON file. If it has `tell`, then on every change of
 * the file the server reports that its lists, or the resource of that URI, have changed.
 */
import { readFileSync, watchFile } from 'node:fs';
import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { type Script, scriptedServer } from './script.ts';

export type { Script };

const file = process.env.SCRIPT!;
const script = (): Script & { readonly tell?: string } => JSON.parse(readFileSync(file, 'utf8'));
const servers = new Set<Server>();

serveStdio(() => {
  const server = scriptedServer(script);
  servers.add(server);
  server.onclose = () => servers.delete(server);
  return server;
});

watchFile(file, { interval: 50 }, () => {
  const { tell } = script();
  if (tell === undefined) return;
  for (const server of servers) {
    if (tell === 'tools') void server.sendToolListChanged();
    else void server.sendResourceUpdated({ uri: tell });
  }
}).unref();
