import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { proxySchema } from '../../../runtime/config/schema-proxy.ts';
import { parseConfigValue } from '../../../runtime/config/settle.ts';
import type { ProxySettings } from '../settings.ts';
import type { UpstreamAnswer, UpstreamRequest, Upstreams } from '../types.ts';
import { openUpstreams, UpstreamFailure, type UpstreamPorts } from '../upstreams.ts';

/** The settings that a `proxy` section makes. `${A}`, `${B}` and `${C}` are keys. */
export function parseProxySettings(written: object): ProxySettings {
  const env = { A: 'key-a', B: 'key-b', C: 'key-c' };
  const { value, problems } = parseConfigValue(written, proxySchema, { env, secrets: new Map() });
  assert.deepEqual(problems, []);
  return value as ProxySettings;
}

/** A clock that goes on only when somebody sleeps, alarms that ring when the test says so, and no chance. */
export interface UpstreamTestPorts {
  readonly ports: UpstreamPorts;
  /** The waits, in milliseconds. */
  readonly slept: number[];
  /** Alarms that are set, the first one first. */
  readonly alarms: { readonly ms: number; readonly ring: () => void }[];
  readonly pass: (ms: number) => void;
}

export function openUpstreamTestPorts(ports: Partial<UpstreamPorts> = {}): UpstreamTestPorts {
  let now_ms = 1_000;
  const slept: number[] = [];
  const alarms: { readonly ms: number; readonly ring: () => void }[] = [];
  return {
    slept,
    alarms,
    pass: (ms) => {
      now_ms += ms;
    },
    ports: {
      now_ms: () => now_ms,
      random: () => 0.5,
      sleep: async (ms) => {
        slept.push(ms);
        now_ms += ms;
      },
      alarm: (ms, ring) => {
        const alarm = { ms, ring };
        alarms.push(alarm);
        return () => void alarms.splice(alarms.indexOf(alarm) >>> 0, 1);
      },
      ...ports,
    },
  };
}

/** Upstreams of these settings, closed with the test. */
export function openTestUpstreams(
  t: TestContext,
  written: object,
  ports: Partial<UpstreamPorts> = openUpstreamTestPorts().ports,
): Upstreams {
  const upstreams = openUpstreams(parseProxySettings(written), ports);
  t.after(upstreams.close);
  return upstreams;
}

/** A chat completion, or what the test makes of it. */
export function buildUpstreamRequest(parts: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    wire: 'openai.chat',
    method: 'POST',
    path: '/v1/chat/completions',
    headers: ['Content-Type', 'application/json'],
    model: 'gpt-x',
    bodyFor: (model) => Buffer.from(JSON.stringify({ model })),
    affinity: null,
    signal: new AbortController().signal,
    ...parts,
  };
}

/** All of an answer's body. */
export async function readBodyText({ body }: Pick<UpstreamAnswer, 'body'>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The failure that a promise rejects with. */
export async function expectUpstreamFailure(promise: Promise<unknown>): Promise<UpstreamFailure> {
  const fault = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(fault instanceof UpstreamFailure, `rejects with an UpstreamFailure, not with ${fault}`);
  return fault;
}
