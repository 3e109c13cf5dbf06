/** The sources of secrets that the backends read, so that one contract applies to all of them. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { locateComponent } from '../../../scripts/components/components.ts';
import type { SecretBackend } from '../../../src/drivers/secrets/backend.ts';
import { env } from '../../../src/drivers/secrets/env.ts';
import { vault } from '../../../src/drivers/secrets/vault.ts';
import { openDriver } from '../../../src/runtime/plugins/driver.ts';
import { freePort } from '../service.ts';
import { eventually } from './eventually.ts';
import { type Gate, openGate } from './gate.ts';
import { awsKeys, startMoto } from './moto.ts';
import { startVaultWire } from './vault-wire.ts';

export interface World {
  readonly name: string;
  /**
   * Opens a backend with credentials that may read, with wrong ones, or with ones that are denied. The environment has
   * no other credentials.
   */
  readonly open: (credentials: 'right' | 'wrong' | 'denied') => Promise<SecretBackend>;
  /** The credentials that it can refuse. */
  readonly refuses: readonly ('wrong' | 'denied')[];
  /** Replaces all secrets. */
  readonly put: (secrets: Readonly<Record<string, string>>) => Promise<void>;
  /** The network in front of it; `null` if there is none. */
  readonly gate: Gate | null;
  /** Texts that no failure may contain, in addition to the values. */
  readonly credentials: readonly string[];
  readonly close: () => Promise<void>;
}

export async function envWorld(): Promise<World> {
  const environment: Record<string, string | undefined> = {};
  return {
    name: 'env',
    open: async () => env.open({ alpha: 'V_ALPHA', beta: 'V_BETA' }, { env: environment }),
    refuses: [],
    put: async (secrets) => {
      for (const name of ['alpha', 'beta']) environment[`V_${name.toUpperCase()}`] = secrets[name];
    },
    gate: null,
    credentials: [],
    close: async () => {},
  };
}

/** Opens the driver of a plug-in in its thread: the example, which reads a folder of files. */
export async function pluginWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'secret-files-'));
  const path = resolve(import.meta.dirname, '../../../examples/plugin-secrets/index.js');
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  return {
    name: 'plugin',
    open: async () => openDriver({ file: { path, sha256 }, name: 'files', settings: { folder } }),
    refuses: [],
    put: async (secrets) => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
      for (const [name, value] of Object.entries(secrets)) writeFileSync(join(folder, name), value);
    },
    gate: null,
    credentials: [folder],
    close: async () => rmSync(folder, { recursive: true }),
  };
}

const TOKENS = { right: ['hvs', 'right0123456789'].join('.'), wrong: ['hvs', 'wrong0123456789'].join('.') };

/** Opens the driver with a server of the wire format, which every machine can run. */
export async function vaultWireWorld(): Promise<World> {
  const wire = await startVaultWire(TOKENS.right);
  const gate = await openGate(wire.port);
  return {
    name: 'vault, on the wire',
    open: async (credentials) => openVault(gate.port, credentials === 'right' ? TOKENS.right : TOKENS.wrong),
    refuses: ['wrong'],
    put: async (secrets) => wire.put('service', secrets),
    gate,
    credentials: Object.values(TOKENS),
    close: async () => {
      await gate.close();
      await wire.close();
    },
  };
}

function openVault(port: number, token: string): SecretBackend {
  const environment = { THE_TOKEN: token };
  const address = `http://127.0.0.1:${port}`;
  return vault.open({ address, token_env: 'THE_TOKEN', path: 'secret/data/service' }, { env: environment });
}

/** Returns the program of a real Vault or OpenBao, if there is one in the PATH of this machine. */
export function vaultProgram(): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    for (const name of ['bao', 'vault']) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // Not in this folder.
      }
    }
  }
  return null;
}

/** Opens the driver with the real program in its development mode; `null` if it is not installed. */
export async function vaultWorld(): Promise<World | null> {
  const program = vaultProgram();
  if (program === null) return null;
  const [port, root] = [await freePort(), ['root', '0123456789'].join('-')];
  const args = ['server', '-dev', '-dev-no-store-token', `-dev-listen-address=127.0.0.1:${port}`];
  const child = spawn(program, [...args, `-dev-root-token-id=${root}`], { stdio: 'ignore' });
  const ask = async (path: string, body: object): Promise<{ auth?: { client_token?: string } }> => {
    const init = { method: 'POST', headers: { 'x-vault-token': root }, body: JSON.stringify(body) };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/${path}`, init);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    const text = await answer.text();
    return text === '' ? {} : JSON.parse(text);
  };
  await eventually(() => ask('secret/data/service', { data: {} }));
  const rules = 'path "secret/data/service*" { capabilities = ["read"] }';
  await ask('sys/policies/acl/reader', { policy: rules });
  const right = (await ask('auth/token/create', { policies: ['reader'] })).auth?.client_token ?? '';
  const denied = (await ask('auth/token/create', { policies: ['default'] })).auth?.client_token ?? '';
  const gate = await openGate(port);
  const tokens = { right, denied, wrong: TOKENS.wrong };
  return {
    name: 'vault, the program',
    open: async (credentials) => openVault(gate.port, tokens[credentials]),
    refuses: ['wrong', 'denied'],
    put: async (secrets) => void (await ask('secret/data/service', { data: secrets })),
    gate,
    credentials: Object.values(tokens),
    close: async () => {
      await gate.close();
      child.kill('SIGKILL');
    },
  };
}

/** Opens the driver and the real SDK with moto; `null` if it is not installed. */
export async function cloudWorld(): Promise<World | null> {
  const program = locateComponent('moto');
  if (program === null) return null;
  const moto = await startMoto(program);
  const gate = await openGate(moto.port);
  return {
    name: 'cloud, moto',
    open: async (credentials) => {
      const keys = credentials === 'wrong' ? awsKeys('wrong') : moto.keys[credentials];
      Object.assign(process.env, keys, { AWS_ENDPOINT_URL: `http://127.0.0.1:${gate.port}` });
      const { cloud } = await import('../../../src/drivers/secrets/cloud.ts');
      return cloud.open({ region: 'eu-central-1', secret_name: 'service' });
    },
    refuses: ['wrong', 'denied'],
    put: (secrets) => moto.put('service', JSON.stringify(secrets)),
    gate,
    credentials: [...Object.values(moto.keys), awsKeys('wrong')].map((keys) => keys.AWS_SECRET_ACCESS_KEY),
    close: async () => {
      await gate.close();
      moto.stop();
    },
  };
}
