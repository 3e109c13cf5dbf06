/** The attacked service, as the program of an agent uses it: one key for prompts, calls, results and messages. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../src/core/types/index.ts';
import { startTestService } from '../../tests/support/service.ts';

/** The tenant without contracts, which shows how far the attacks get without the defence. */
export const OPEN_TENANT = 'open';
export const GUARDED_TENANT = 'guarded';

export interface Answer {
  readonly decision: string;
  readonly rule: string;
  readonly reason: string;
  readonly violations: readonly object[];
  readonly modified_input?: JsonObject;
  readonly modified_output?: Json;
}

export interface GuardedCall {
  readonly tool: string;
  readonly args: JsonObject;
  readonly raw?: string;
  readonly context?: object;
  readonly extra?: object;
}

export interface GuardSession {
  readonly prompt: (text: string) => Promise<Answer>;
  readonly call: (call: GuardedCall, agent: string) => Promise<Answer>;
  readonly result: (tool: string, output: Json, agent: string) => Promise<Answer>;
  readonly message: (text: string, from: string, to: string) => Promise<Answer>;
}

export interface Guard {
  /** Opens a session of the agent `assistant`. */
  readonly open: (sessionId: string) => GuardSession;
  readonly stop: () => Promise<unknown>;
}

/** Starts the service. Masks are off, so that origins alone decide. */
export async function startGuards(): Promise<Record<'guarded' | 'open', Guard>> {
  const key = randomBytes(24).toString('hex');
  const sha256 = createHash('sha256').update(key).digest('hex');
  const policy = readFileSync(join(import.meta.dirname, 'policy.yaml'), 'utf8');
  const service = await startTestService({
    workers: 1,
    config: {
      pii_protection: { action: 'flag' },
      auth: { api_keys: [{ id: 'attacked', sha256, permissions: ['check', 'prompts:speak'] }] },
    },
    files: {
      'policies/attacked.yaml': policy.replaceAll(
        '  - tool_name',
        `  - tenant_id: ${GUARDED_TENANT}\n    tool_name`,
      ),
    },
  });
  const post = async (path: string, body: string): Promise<Answer> => {
    const answer = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body,
    });
    const json = (await answer.json()) as Answer & { readonly code?: string };
    // A refused request reaches no tool.
    return answer.ok
      ? json
      : { decision: 'block', rule: `status ${answer.status} ${json.code}`, reason: '', violations: [] };
  };
  const buildGuard = (tenantId: string): Guard => ({
    open: (sessionId) => {
      const send = (path: string, agent: string, body: object, raw = ''): Promise<Answer> => {
        const written = JSON.stringify({
          ...body,
          agent_id: agent,
          tenant_id: tenantId,
          session_id: sessionId,
        });
        return post(path, `${written.slice(0, -1)}${raw}}`);
      };
      return {
        prompt: (text) => send('/v1/scan/input', 'assistant', { text, context: { origin: 'user' } }),
        call: ({ tool, args, raw = JSON.stringify(args), context, extra }, agent) =>
          send(
            '/v1/intercept/tool',
            agent,
            { tool, ...extra, ...(context && { context }) },
            `,"input":${raw}`,
          ),
        result: (tool, output, agent) =>
          send('/v1/intercept/tool', agent, { tool, phase: 'response', output }),
        message: (text, from, to) =>
          send('/v1/intercept/agent-message', from, {
            message: text,
            source_agent_id: from,
            destination_agent_id: to,
          }),
      };
    },
    stop: () => service.stop(),
  });
  return { guarded: buildGuard(GUARDED_TENANT), open: buildGuard(OPEN_TENANT) };
}
