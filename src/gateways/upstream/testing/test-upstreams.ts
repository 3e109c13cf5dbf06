import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { parseConfigValue } from '../../../runtime/config/parse-config-value.ts';
import { proxySchema } from '../../../runtime/config/schema-proxy.ts';
import type { ProxySettings } from '../settings.ts';
import type { UpstreamAnswer, UpstreamRequest, Upstreams } from '../types.ts';
import { openUpstreams, UpstreamFailure, type UpstreamPorts } from '../upstreams.ts';

/** Parses a `proxy` section. `${A}`, `${B}` and `${C}` are keys. */
export function parseProxySettings(written: object): ProxySettings {
  const env = { A: 'key-a', B: 'key-b', C: 'key-c' };
  const { value, problems } = parseConfigValue(written, proxySchema, { env, secrets: new Map() });
  assert.deepEqual(problems, []);
  return value as ProxySettings;
}

/** A clock that advances only in `sleep` and `pass`, alarms that the test triggers, and no randomness. */
export interface UpstreamTestPorts {
  readonly ports: UpstreamPorts;
  /** The delays, in milliseconds. */
  readonly slept: number[];
  /** The pending alarms, oldest first. */
  readonly alarms: { readonly ms: number; readonly ring: () => void }[];
  readonly pass: (ms: number) => void;
}

export function openUpstreamTestPorts(ports: Partial<UpstreamPorts> = {}): UpstreamTestPorts {
  let nowMs = 1_000;
  const slept: number[] = [];
  const alarms: { readonly ms: number; readonly ring: () => void }[] = [];
  return {
    slept,
    alarms,
    pass: (ms) => {
      nowMs += ms;
    },
    ports: {
      now_ms: () => nowMs,
      random: () => 0.5,
      sleep: async (ms) => {
        slept.push(ms);
        nowMs += ms;
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

/** Opens upstreams with these settings, closed with the test. */
export function openTestUpstreams(
  t: TestContext,
  written: object,
  ports: Partial<UpstreamPorts> = openUpstreamTestPorts().ports,
): Upstreams {
  const upstreams = openUpstreams(parseProxySettings(written), ports);
  t.after(upstreams.close);
  return upstreams;
}

/** Builds a chat completion, changed as the test needs. */
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

/** Reads an answer's whole body. */
export async function readBodyText({ body }: Pick<UpstreamAnswer, 'body'>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Returns the failure that a promise rejects with. */
export async function expectUpstreamFailure(promise: Promise<unknown>): Promise<UpstreamFailure> {
  const fault = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(fault instanceof UpstreamFailure, `rejects with an UpstreamFailure, not with ${fault}`);
  return fault;
}
