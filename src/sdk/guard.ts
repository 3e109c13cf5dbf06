import { buildBlockError } from './approvals.ts';
import { buildFailedVerdict, type CheckBody, type GuardBackend } from './backend.ts';
import { readVariable } from './environment.ts';
import { ApprovalRequiredError, BlockedError, CustomshouseError } from './errors.ts';
import { createIntelligence, type GuardIntelligence } from './intelligence.ts';
import { toPlainJson } from './plain-json.ts';
import { runChecked } from './tool-error.ts';
import type {
  GuardOperation,
  GuardOptions,
  GuardStream,
  GuardVerdict,
  MessageSubject,
  SubjectOptions,
} from './types.ts';

/**
 * Decides on what enters an agent, what it does and what it answers. A check returns a verdict and never rejects,
 * unless `raise_on_block` is set. Every failure is a verdict that blocks.
 */
export interface Guard {
  /** `client` asks a service; `local` decides in this process. */
  readonly kind: 'client' | 'local';
  /**
   * Checks the words of a person, whose values the agent may then use. A service takes them only with a key that has the
   * permission `prompts:speak`. Text from anywhere else belongs in `input`.
   */
  readonly prompt: (text: string, subject?: SubjectOptions) => Promise<GuardVerdict>;
  /** Checks a text that is about to enter the agent: a document, or a prompt that no person is known to have written. */
  readonly input: (text: string, subject?: SubjectOptions) => Promise<GuardVerdict>;
  /** Checks a JSON value that is about to enter the agent. */
  readonly structured: (payload: unknown, subject?: SubjectOptions) => Promise<GuardVerdict>;
  /** Checks a text that the agent is about to send. */
  readonly output: (text: string, subject?: SubjectOptions) => Promise<GuardVerdict>;
  /** Checks a tool call before it runs. */
  readonly tool: (tool: string, input: unknown, subject?: SubjectOptions) => Promise<GuardVerdict>;
  /** Checks the result of a tool before the agent sees it. */
  readonly toolResult: (tool: string, output: unknown, subject?: SubjectOptions) => Promise<GuardVerdict>;
  /** Checks a message from one agent to another. */
  readonly message: (text: string, subject: MessageSubject) => Promise<GuardVerdict>;
  /**
   * Guards a text while it arrives. Yields what may be shown and throws `BlockedError` where a rule blocks. A local
   * guard holds back little more than the last word; a guard of a service holds the text until it is whole.
   */
  readonly stream: (
    source: AsyncIterable<string> | Iterable<string>,
    subject?: StreamSubject,
  ) => AsyncGenerator<string, GuardVerdict>;
  /** Opens a guarded stream whose pieces are pushed one by one. */
  readonly openStream: (subject?: StreamSubject) => GuardStream;
  /** The same checks for programs that only need the content to use: they return what may be used, and throw if nothing may. */
  readonly protect: GuardProtection;
  /**
   * Runs a tool behind the guard: checks the call, runs it with the checked arguments, and returns the checked result.
   * The tool does not run if the call is blocked; then it rejects with `BlockedError`. If the tool fails, its error is
   * checked as a result: it rejects with the same error, with `ToolError` if a rule masks it, or with `BlockedError`.
   */
  readonly run: <Input, Output>(
    tool: string,
    input: Input,
    execute: (input: Input) => Output | PromiseLike<Output>,
    subject?: SubjectOptions,
  ) => Promise<Awaited<Output>>;
  /** Returns the same guard for another agent, session or tenant. Closing one closes both. */
  readonly withSubject: (subject: Pick<SubjectOptions, 'agent_id' | 'session_id' | 'tenant_id'>) => Guard;
  /** The advisors of the service. */
  readonly intelligence: GuardIntelligence;
  /** Writes what is not written yet. Call it before the process ends. */
  readonly close: () => Promise<void>;
}

/** Whom a stream concerns, and the boundary that it crosses. Default `output`. */
export type StreamSubject = SubjectOptions & { readonly boundary?: 'input' | 'output' };

/**
 * Checks that return the content to use and throw `BlockedError`. If a rule requires an approval they wait for it, or
 * throw `ApprovalRequiredError`, as `on_approval` says.
 */
export interface GuardProtection {
  readonly prompt: (text: string, subject?: SubjectOptions) => Promise<string>;
  readonly input: (text: string, subject?: SubjectOptions) => Promise<string>;
  readonly output: (text: string, subject?: SubjectOptions) => Promise<string>;
  readonly tool: <Input>(tool: string, input: Input, subject?: SubjectOptions) => Promise<Input>;
  readonly toolResult: <Output>(tool: string, output: Output, subject?: SubjectOptions) => Promise<Output>;
  readonly message: (text: string, subject: MessageSubject) => Promise<string>;
}

const APPROVAL_SECONDS = 300;

interface GuardState {
  readonly backend: GuardBackend;
  readonly subject: Pick<CheckBody, 'agent_id' | 'session_id' | 'tenant_id'>;
  readonly raises: boolean;
  readonly waits: boolean;
  readonly approval_seconds: number;
}

/** Builds the guard of a back end. Throws if an option cannot be used. */
export function createGuard(backend: GuardBackend, options: GuardOptions = {}): Guard {
  const { on_approval = 'wait', raise_on_block = false } = options;
  if (on_approval !== 'wait' && on_approval !== 'raise')
    throw new CustomshouseError('`on_approval` must be `wait` or `raise`.');
  const seconds =
    options.approval_timeout_seconds ?? Number(readVariable('SERVICE_APPROVAL_SECONDS') ?? APPROVAL_SECONDS);
  return buildGuard({
    backend,
    subject: {
      agent_id: getAgentName(options),
      session_id: options.session_id === undefined ? createSessionName() : options.session_id,
      tenant_id: options.tenant_id,
    },
    raises: raise_on_block,
    waits: on_approval === 'wait',
    approval_seconds: Number.isFinite(seconds) && seconds >= 0 ? seconds : APPROVAL_SECONDS,
  });
}

/** Returns the agent of a guard. */
export function getAgentName({ agent_id }: GuardOptions): string {
  return agent_id ?? readVariable('SERVICE_AGENT_ID') ?? 'agent';
}

function createSessionName(): string {
  const { crypto } = globalThis as { crypto?: { randomUUID?: () => string } };
  return crypto?.randomUUID?.() ?? `session-${Math.random().toString(16).slice(2)}`;
}

function buildGuard(state: GuardState): Guard {
  const { backend } = state;
  const checked = async (check: Check): Promise<GuardVerdict> => {
    const verdict = await decideCheck(state, check);
    if (state.raises && verdict.decision === 'block') throw createBlockError(state, verdict);
    return verdict;
  };
  return {
    kind: backend.kind,
    prompt: (text, subject) => checked(buildPromptCheck(text, subject)),
    input: (text, subject) => checked(buildTextCheck('scan_input', text, subject)),
    structured: (payload, subject) =>
      checked(buildValueCheck('scan_structured', 'payload', payload, {}, subject)),
    output: (text, subject) => checked(buildTextCheck('guard_output', text, subject)),
    tool: (tool, input, subject) => checked(callCheck(tool, input, subject)),
    toolResult: (tool, output, subject) => checked(buildResultCheck(tool, output, subject)),
    message: (text, subject) => checked(buildMessageCheck(text, subject)),
    stream: (source, subject) => guardStream(state, source, subject),
    openStream: (subject) => openGuardStream(state, subject),
    protect: {
      prompt: (text, subject) => protectValue(state, buildPromptCheck(text, subject), text),
      input: (text, subject) => protectValue(state, buildTextCheck('scan_input', text, subject), text),
      output: (text, subject) => protectValue(state, buildTextCheck('guard_output', text, subject), text),
      tool: (tool, input, subject) => protectValue(state, callCheck(tool, input, subject), input),
      toolResult: (tool, output, subject) =>
        protectValue(state, buildResultCheck(tool, output, subject), output),
      message: (text, subject) => protectValue(state, buildMessageCheck(text, subject), text),
    },
    run: async <Input, Output>(
      tool: string,
      input: Input,
      execute: (input: Input) => Output | PromiseLike<Output>,
      subject?: SubjectOptions,
    ): Promise<Awaited<Output>> => {
      const allowed = await protectValue(state, callCheck(tool, input, subject), input);
      return runChecked(
        () => execute(allowed),
        (value) => protectValue(state, buildResultCheck(tool, value, subject), value),
      );
    },
    withSubject: (subject) => buildGuard({ ...state, subject: { ...state.subject, ...subject } }),
    intelligence: createIntelligence(backend),
    close: () => backend.close(),
  };
}

/** One check: its operation, its body, and the JSON form of a value if it differs from the value. */
interface Check {
  readonly operation: GuardOperation;
  readonly body: CheckBody;
  readonly changed:
    | 'modified_text'
    | 'modified_payload'
    | 'modified_input'
    | 'modified_output'
    | 'modified_message';
  /** Set if only the JSON form of the content was judged, so that only it may be used. */
  readonly copy?: { readonly value: unknown };
  /** Set if the content has no JSON form. */
  readonly problem?: string;
}

function buildTextCheck(
  operation: 'scan_input' | 'guard_output',
  text: string,
  { source_agent_id: _, destination_agent_id: __, data_tags: ___, ...subject }: SubjectOptions = {},
): Check {
  return { operation, body: { text, ...moveToContext(subject) }, changed: 'modified_text' };
}

/** Returns a subject's body. The service takes a text's tool, the person and the chain in `context`. */
function moveToContext({
  tool,
  user_id,
  chain,
  agent_tier,
  task_id,
  trace_id,
  ...subject
}: SubjectOptions): CheckBody {
  const stated = Object.entries({ tool, user_id, chain, agent_tier, task_id, trace_id });
  const context: CheckBody['context'] = Object.fromEntries(stated.filter(([, value]) => value !== undefined));
  return stated.every(([, value]) => value === undefined) ? subject : { ...subject, context };
}

function buildPromptCheck(text: string, subject?: SubjectOptions): Check {
  const check = buildTextCheck('scan_input', text, subject);
  return { ...check, body: { ...check.body, context: { ...check.body.context, origin: 'user' } } };
}

function buildMessageCheck(text: string, { tool: _, ...subject }: MessageSubject): Check {
  // The sender acts, and not the agent of the guard.
  const { agent_id = subject.source_agent_id } = subject;
  const body = { message: text, ...moveToContext(subject), agent_id };
  return { operation: 'intercept_agent_message', body, changed: 'modified_message' };
}

function callCheck(tool: string, input: unknown, subject: SubjectOptions = {}): Check {
  const about = { ...moveToContext(omitTool(subject)), tool, phase: 'request' } as const;
  return { ...buildValueCheck('intercept_tool', 'input', input, about), changed: 'modified_input' };
}

/** A call's tool is named apart from its subject. */
function omitTool({ tool: _, ...subject }: SubjectOptions): SubjectOptions {
  return subject;
}

function buildResultCheck(tool: string, output: unknown, subject: SubjectOptions = {}): Check {
  const { capability_token_id: _, capability_action: __, ...rest } = subject;
  const about = { ...moveToContext(omitTool(rest)), tool, phase: 'response' } as const;
  return { ...buildValueCheck('intercept_tool', 'output', output, about), changed: 'modified_output' };
}

function buildValueCheck(
  operation: GuardOperation,
  member: 'payload' | 'input' | 'output',
  value: unknown,
  about: CheckBody,
  subject: SubjectOptions = {},
): Check {
  const plain = toPlainJson(value);
  const check = {
    operation,
    body: { ...moveToContext(subject), ...about },
    changed: 'modified_payload',
  } as const;
  if (!plain.ok) return { ...check, problem: plain.reason };
  const body = { ...check.body, [member]: plain.value };
  return { ...check, body, ...(!plain.is_exact && { copy: { value: plain.value } }) };
}

async function decideCheck(
  { backend, subject }: GuardState,
  { operation, body, problem }: Check,
): Promise<GuardVerdict> {
  if (problem !== undefined) return buildFailedVerdict('sdk.not_json', problem);
  try {
    return await backend.check(operation, { ...subject, ...omitUndefined(body) });
  } catch {
    return buildFailedVerdict('sdk.fault', 'A fault inside the SDK kept it from deciding, so it blocks.');
  }
}

/** A member that is `undefined` must not hide the guard's own. */
function omitUndefined(body: CheckBody): CheckBody {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

/** Returns the content to use. Rejects if nothing may be used. */
async function protectValue<Value>(state: GuardState, check: Check, value: Value): Promise<Value> {
  let verdict = await decideCheck(state, check);
  if (verdict.decision === 'block') {
    const error = createBlockError(state, verdict);
    if (!(error instanceof ApprovalRequiredError) || !state.waits) throw error;
    const approvalRequestId = await error.wait();
    verdict = await decideCheck(state, {
      ...check,
      body: { ...check.body, approval_request_id: approvalRequestId },
    });
  }
  if (verdict.decision === 'block') throw createBlockError(state, verdict);
  const changed = verdict[check.changed];
  if (verdict.decision === 'modify') {
    if (changed === undefined) throw new BlockedError({ ...verdict, decision: 'block', reason: NO_CONTENT });
    return changed as Value;
  }
  return check.copy === undefined ? value : (check.copy.value as Value);
}

const NO_CONTENT = 'The content was to be changed, but the changed content is missing, so it is blocked.';

function createBlockError({ backend, approval_seconds }: GuardState, verdict: GuardVerdict): BlockedError {
  return buildBlockError(verdict, backend, approval_seconds);
}

function openGuardStream(
  state: GuardState,
  { boundary = 'output', ...about }: StreamSubject = {},
): GuardStream {
  const { body } = buildTextCheck('guard_output', '', about);
  return state.backend.openStream(boundary, { ...state.subject, ...omitUndefined(body) });
}

async function* guardStream(
  state: GuardState,
  source: AsyncIterable<string> | Iterable<string>,
  subject?: StreamSubject,
): AsyncGenerator<string, GuardVerdict> {
  const stream = openGuardStream(state, subject);
  for await (const piece of source) {
    const { text, verdict } = await stream.push(piece);
    if (verdict?.decision === 'block') throw createBlockError(state, verdict);
    if (text !== '') yield text;
  }
  const { text, verdict } = await stream.end();
  if (verdict === null || verdict.decision === 'block')
    throw createBlockError(
      state,
      verdict ?? buildFailedVerdict('sdk.fault', 'The stream ended without a verdict.'),
    );
  if (text !== '') yield text;
  return verdict;
}
