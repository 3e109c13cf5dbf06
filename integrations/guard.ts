// Asks the service over HTTP with `fetch` alone. Fails closed: every error denies.
//
// Set in the environment: SERVICE_URL (http://127.0.0.1:8000), SERVICE_KEY (a credential, where the service asks for one),
// SERVICE_AGENT_ID (the agent's name in the audit log), SERVICE_APPROVAL_SECONDS (how long to wait for an approver: 300).

/** A denial by a rule or an approver, or because the service did not answer. Its message is one sentence. */
export class Refused extends Error {
  override name = 'Refused';
}

export interface GuardOptions {
  readonly agentId?: string;
  /** One guard is one session. */
  readonly sessionId?: string;
  readonly url?: string;
  readonly key?: string;
  readonly timeoutMs?: number;
  readonly approvalSeconds?: number;
}

/** Judges what enters an agent, what it does and what it answers. Each comes back with what may be used, or throws Refused. */
export interface Guard {
  /** The text that may enter the agent, in which what a rule masks is masked. */
  readonly checkInput: (text: string) => Promise<string>;
  /** The text that may leave the agent. */
  readonly checkOutput: (text: string) => Promise<string>;
  /** The arguments that a tool may be called with. Waits if an approver must agree. */
  readonly checkCall: <Input>(tool: string, input: Input) => Promise<Input>;
  /** The result that the agent may see. */
  readonly checkResult: <Output>(tool: string, output: Output) => Promise<Output>;
}

/** A guard for one session; what is not given is taken from the environment. */
export function openGuard(options: GuardOptions = {}): Guard {
  const subject = {
    agent_id: options.agentId ?? (process.env.SERVICE_AGENT_ID || 'agent'),
    session_id: options.sessionId ?? crypto.randomUUID(),
  };
  async function judge<Value>(path: string, what: Answer, value: Value, changed: string): Promise<Value> {
    const body = { ...what, ...subject };
    let answer = await ask(options, path, body);
    const request_id = (answer.approval as { request_id?: unknown } | null | undefined)?.request_id;
    if (answer.decision === 'block' && typeof request_id === 'string') {
      await agreement(options, request_id);
      answer = await ask(options, path, { ...body, approval_request_id: request_id });
    }
    if (answer.decision === 'allow') return value;
    if (answer.decision === 'modify' && answer[changed] !== undefined) return answer[changed] as Value;
    throw new Refused(`${answer.reason ?? 'The service gave no reason.'}`);
  }
  return {
    checkInput: (text) => judge('/v1/scan/input', { text }, text, 'modified_text'),
    checkOutput: (text) => judge('/v1/guard/output', { text }, text, 'modified_text'),
    checkCall: (tool, input) =>
      judge('/v1/intercept/tool', { tool, input, phase: 'request' }, input, 'modified_input'),
    checkResult: (tool, output) =>
      judge('/v1/intercept/tool', { tool, output, phase: 'response' }, output, 'modified_output'),
  };
}

type Answer = Readonly<Record<string, unknown>>;

/** Resolves when an approver has agreed. */
async function agreement(options: GuardOptions, request_id: string): Promise<void> {
  const seconds = options.approvalSeconds ?? Number(process.env.SERVICE_APPROVAL_SECONDS || 300);
  const until = Date.now() + (Number.isFinite(seconds) ? seconds * 1000 : 0);
  for (;;) {
    const left = Math.max(0, Math.min(20, Math.floor((until - Date.now()) / 1000)));
    const path = `/v1/approvals/${encodeURIComponent(request_id)}${left > 0 ? `?wait=${left}s` : ''}`;
    const { status } = await ask(options, path, undefined, left * 1000);
    if (status === 'approved') return;
    if (status !== 'pending') throw new Refused(`The approval request is ${status}.`);
    if (Date.now() >= until)
      throw new Refused(
        `The approval request ${request_id} waits for an operator, who decides on it outside of this session.`,
      );
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function ask(options: GuardOptions, path: string, body?: Answer, waitMs = 0): Promise<Answer> {
  const { env } = process;
  const url = (options.url ?? (env.SERVICE_URL || 'http://127.0.0.1:8000')).replace(/\/+$/, '');
  const key = options.key ?? env.SERVICE_KEY;
  let answer: unknown;
  try {
    const response = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...(key ? { 'x-service-key': key } : {}) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Content goes only to the service, and not to an address that an answer names.
      redirect: 'error',
      signal: AbortSignal.timeout((options.timeoutMs ?? 10_000) + waitMs),
    });
    answer = await response.json();
    if (!response.ok) {
      const { reason, error } = answer as { reason?: unknown; error?: unknown };
      throw new Refused(`${reason ?? error ?? `The service answered ${response.status}.`}`);
    }
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused('The service could not be reached.');
  }
  if (typeof answer !== 'object' || answer === null)
    throw new Refused('The service did not answer as it should.');
  return answer as Answer;
}
