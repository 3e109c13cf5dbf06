/** The official SDKs of model providers, each in a program of its own, as their users run them. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { locateComponent } from '../../scripts/components/components.ts';
import { PYTHON_CACHE } from '../python/run-python.ts';
import type { Ask, ClientReading } from './clients/ask.ts';

export type ClientName = 'openai' | 'anthropic' | 'vercel' | 'google' | 'python_openai' | 'python_anthropic';

export interface Clients {
  /** Sends a request to one client. Several may run at the same time. */
  readonly ask: (client: ClientName, ask: Ask) => Promise<ClientReading>;
  readonly close: () => void;
}

/** Returns why a client cannot run here; `null` if it can. */
export function missingFor(client: ClientName): string | null {
  const component = isPython(client) ? 'clients-python' : 'clients-node';
  if (locateComponent(component) !== null) return null;
  return `${component} is not installed (scripts/run scripts/components/main.ts ${component})`;
}

/** Opens the clients. Each program is started at its first request, and runs until all are closed. */
export function openClients(): Clients {
  const programs = new Map<ClientName, Program>();
  return {
    ask: (client, ask) => {
      const program = programs.get(client) ?? startProgram(client);
      programs.set(client, program);
      return program.ask(ask);
    },
    close: () => {
      for (const program of programs.values()) program.close();
    },
  };
}

/** Longer than any timeout of a request. */
const ANSWER_MS_MAX = 90_000;

interface Program {
  readonly ask: (ask: Ask) => Promise<ClientReading>;
  readonly close: () => void;
}

function startProgram(client: ClientName): Program {
  const folder = join(import.meta.dirname, 'clients');
  const words = isPython(client)
    ? [locateComponent('clients-python') ?? 'python3', join(folder, `${client}.py`)]
    : [process.execPath, join(folder, `${client}.ts`)];
  // No variable of this machine, such as a key or a proxy, reaches an SDK.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...PYTHON_CACHE };
  const child = spawn(words[0]!, words.slice(1), { stdio: ['pipe', 'pipe', 'inherit'], env });
  const waiting = new Map<
    number,
    { resolve: (seen: ClientReading) => void; reject: (error: Error) => void }
  >();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, seen } = JSON.parse(line) as { id: number; seen: ClientReading };
    waiting.get(id)?.resolve(seen);
    waiting.delete(id);
  });
  child.once('close', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`\`${client}\` ended with ${code}`));
  });
  let id = 0;
  return {
    ask: (ask) => {
      id += 1;
      const { promise, resolve, reject } = Promise.withResolvers<ClientReading>();
      waiting.set(id, { resolve, reject });
      const late = () => reject(new Error(`\`${client}\` did not answer`));
      void sleep(ANSWER_MS_MAX, undefined, { ref: false }).then(late);
      child.stdin.write(`${JSON.stringify({ id, ask })}\n`);
      return promise;
    },
    close: () => {
      waiting.clear();
      child.kill();
    },
  };
}

function isPython(client: ClientName): boolean {
  return client.startsWith('python_');
}
