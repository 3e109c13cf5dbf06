import { setTimeout as sleep } from 'node:timers/promises';
import { type HookOptions, parseHookOptions, UsageFailure } from '../../coding-agents/hook-options.ts';
import { codingAgentRecords, dialects, recogniseDialect } from '../../coding-agents/index.ts';
import type {
  Dialect,
  HookAnswer,
  HookCheck,
  HookEvent,
  HookReply,
  Payload,
} from '../../coding-agents/record/dialect.ts';
import { replyWithExitCode, Unreadable } from '../../coding-agents/record/payload.ts';
import {
  hasHiddenMembers,
  parseJson,
  rememberNestedSources,
  SOURCE_LIMITS,
} from '../../core/json/value-source.ts';
import type { Json } from '../../core/types/index.ts';
import type { StartFailure } from '../../platform/failure.ts';
import { buildAgentCaller } from '../../runtime/access/callers.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { placeOf } from './place.ts';
import type { HookQuestion } from './question.ts';
import { reach } from './reach.ts';
import { readInput, STDIN_BYTES_MAX } from './streams.ts';
import type { UnjudgedRule } from './unjudged.ts';
import { hookVersion } from './version.ts';

/** The process that runs one hook. */
export interface HookProcess {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: AsyncIterable<Buffer>;
  /** Writes the whole text to standard output or error. */
  readonly write: (fd: 1 | 2, text: string) => void;
  /** Ends the process. */
  readonly exit: (code: 0 | 1 | 2) => void;
}

/** The state of one hook run before its reply is written. It can build a denial at any time. */
interface Desk {
  readonly process: HookProcess;
  readonly options: HookOptions;
  deny: (reason: string) => HookReply;
  /** The parts of the event that are already parsed, for the audit event of a refusal. */
  readonly known: { dialect: Dialect | null; event: string | null; question: HookQuestion | null };
  /** Resolves when the refusal is recorded, or cannot be. A refusal here is a denial without an evaluation. */
  recorded: Promise<void> | null;
  is_told: boolean;
  /** Work that runs after the reply is written. */
  afterwards: () => void | Promise<void>;
}

/** The reply to the agent, and whether it denies. */
interface Outcome {
  readonly reply: HookReply;
  readonly is_no: boolean;
}

/**
 * Runs `service hook` once: reads an event from the agent, obtains a decision and writes the reply in the agent's
 * format. Fails closed: every error denies, and so does a decision that comes too late.
 */
export async function runHook(process: HookProcess): Promise<void> {
  let options: HookOptions;
  try {
    options = parseHookOptions(process.words);
    if (options.daemon) {
      await (await import('./resident.ts')).runResident(options.config, hookVersion());
      return process.exit(0);
    }
  } catch (failure) {
    return tell(process, replyWithExitCode(sentenceOf(failure)), 2, () => {});
  }
  const named = options.dialect === null ? null : dialects.find(({ name }) => name === options.dialect);
  const desk: Desk = {
    process,
    options,
    deny: named?.refuse ?? replyWithExitCode,
    known: { dialect: named ?? null, event: null, question: null },
    recorded: null,
    is_told: false,
    afterwards: () => {},
  };
  // The watchdog starts before anything is read, because an agent whose hook is late continues without it.
  const late_ms = options.timeout_ms ?? TIMEOUT_MS;
  const watchdog = setTimeout(() => refuseLate(desk, new TooLate(late_ms)), late_ms);
  try {
    finish(desk, await answerTo(desk, named === undefined ? await plugged(desk) : named));
  } catch (failure) {
    await record(desk, failure);
    finish(desk, no(desk.deny(sentenceOf(failure))));
  } finally {
    clearTimeout(watchdog);
  }
}

/** Returns a dialect that a plug-in of the configuration describes. */
async function plugged({ options, process }: Desk): Promise<Dialect> {
  const { pluggedDialect } = await import('./plugged.ts');
  const place = placeOf(options.config, process.env, process.cwd);
  const dialect = await pluggedDialect(options.dialect ?? '', place, userOf(process.env));
  if (dialect !== null) return dialect;
  throw new UsageFailure(unknownDialect());
}

/** Shorter than the time-out of every agent, which is ten seconds or more. */
const TIMEOUT_MS = 8_000;
/** The time that the process may stay open after its reply to record a refusal. */
const RECORD_MS = 500;

/** Denies because no decision came in time. The reply does not wait for the record, because it is late already. */
function refuseLate(desk: Desk, failure: TooLate): void {
  desk.afterwards = () => Promise.race([record(desk, failure), sleep(RECORD_MS)]);
  finish(desk, no(desk.deny(failure.message)));
}

/** Records a refusal without an evaluation, once. Never rejects, because the denial does not depend on the record. */
function record(desk: Desk, failure: unknown): Promise<void> {
  const { options, process, known } = desk;
  const { dialect, event, question } = known;
  const write = async (): Promise<void> => {
    const { recordRefusal } = await import('./alone.ts');
    const unjudged = {
      rule: ruleOf(failure),
      reason: sentenceOf(failure),
      dialect: dialect?.name ?? null,
      event,
      agent_id: question?.agent_id ?? options.agent ?? dialect?.agent_id ?? 'unknown',
      tenant_id: question?.tenant_id ?? options.tenant ?? 'default',
      question,
    };
    await recordRefusal(unjudged, {
      place: placeOf(options.config, process.env, process.cwd),
      version: hookVersion(),
      caller: callerOf(process.env),
    });
  };
  desk.recorded ??= write().catch(() => {});
  return desk.recorded;
}

function ruleOf(failure: unknown): UnjudgedRule {
  const { name, code } = failure as { readonly name?: string; readonly code?: string };
  if (name === 'StartFailure' && code === 'config_invalid') return 'fault.policy';
  return RULES[name ?? ''] ?? 'fault.internal';
}

const RULES: Readonly<Record<string, UnjudgedRule>> = {
  Unreadable: 'hook.unreadable',
  UsageFailure: 'hook.usage',
  StoreFailure: 'fault.store',
  TooLate: 'fault.timeout',
};

async function answerTo(desk: Desk, forced: Dialect | null): Promise<Outcome> {
  const { options, process } = desk;
  const payload = await payloadOf(process.stdin);
  const dialect = forced ?? recogniseDialect(payload);
  desk.deny = dialect.refuse;
  desk.known.dialect = dialect;
  const name = dialect.readEvent(payload, options.event);
  if (name === null) throw new Unreadable('it has no event name');
  if (dialect.ignored_events.includes(name)) return yes(dialect.pass);
  const event = Object.hasOwn(dialect.events, name) ? dialect.events[name]! : null;
  if (event === null) throw new Unreadable('its event is unknown');
  desk.deny = (reason) => event.deny(reason, payload);
  desk.known.event = name;
  const question = questionOf(dialect, event, name, payload, options);
  desk.known.question = question;
  const answers = await decide(question, desk);
  const answer = strictest(answers);
  if (answer === null) return yes(dialect.pass);
  const { kind } = question.checks[answers.indexOf(answer)]!;
  return outcomeOf(dialect, event, payload, { ...answer, kind, is_only: answers.length === 1 });
}

async function payloadOf(stdin: HookProcess['stdin']): Promise<Payload> {
  const bytes = await readInput(stdin, STDIN_BYTES_MAX);
  if (bytes === null) throw new Unreadable(`it has more than ${STDIN_BYTES_MAX} bytes`);
  let value: Json;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = parseJson(text);
  } catch {
    throw new Unreadable('it is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Unreadable('it is not one JSON object');
  if (hasHiddenMembers(text, value)) throw new Unreadable('an object in it has two members of one name');
  rememberNestedSources(value, SOURCE_LIMITS, CONTENT_LEVELS);
  return value as Payload;
}

/** The depth of calls and results in a payload at most. */
const CONTENT_LEVELS = 4;

function questionOf(
  dialect: Dialect,
  event: HookEvent,
  name: string,
  payload: Payload,
  options: HookOptions,
): HookQuestion {
  const subject = dialect.readSubject(payload);
  return {
    ...subject,
    ...workingDir(payload),
    ...(event.change === undefined && dialect.writeDecision === undefined && { has_fixed_prompt: true }),
    dialect: dialect.name,
    event: name,
    agent_id: options.agent ?? subject.agent_id ?? dialect.agent_id,
    tenant_id: options.tenant ?? subject.tenant_id ?? 'default',
    checks: event.checks(payload),
  };
}

const FOLDER_UNITS_MAX = 4_096;

/** Returns the working folder; every coding agent that sends it names it `cwd`. */
function workingDir({ cwd }: Payload): { readonly working_dir?: string } {
  return typeof cwd === 'string' && cwd.length <= FOLDER_UNITS_MAX ? { working_dir: cwd } : {};
}

/**
 * Asks the process that owns the state folder to decide. Without one it decides in this process, and starts a daemon
 * for the next hook after the reply.
 */
async function decide(question: HookQuestion, desk: Desk): Promise<readonly HookAnswer[]> {
  const { options, process } = desk;
  const place = placeOf(options.config, process.env, process.cwd);
  const user = userOf(process.env);
  const { state_dir, config_file } = place;
  if (state_dir !== null) {
    const reached = await reach(question, { state_dir, config_file, version: hookVersion(), user });
    if ('answers' in reached) return reached.answers;
    if ('refused' in reached) throw new OwnerFailure(reached.refused);
  }
  const { decideAlone, startResident } = await import('./alone.ts');
  if (state_dir !== null && process.env.SERVICE_HOOK_DAEMON !== 'off')
    desk.afterwards = () => startResident(place, state_dir, hookVersion());
  return decideAlone(question, { place, version: hookVersion(), caller: callerOf(process.env) });
}

function callerOf(env: HookProcess['env']): Caller {
  return buildAgentCaller(`hook:${userOf(env)}`, ['check', 'approvals:own'], '*', '*');
}

function userOf(env: HookProcess['env']): string {
  return env.USER || env.LOGNAME || `uid-${process.getuid?.() ?? 'unknown'}`;
}

const STRICTNESS = { allow: 0, modify: 1, block: 2 } as const;

/** Returns the strictest answer, which decides the event because every check must pass. */
function strictest(answers: readonly HookAnswer[]): HookAnswer | null {
  return answers.reduce<HookAnswer | null>(
    (worst, each) =>
      worst === null || STRICTNESS[each.decision] > STRICTNESS[worst.decision] ? each : worst,
    null,
  );
}

/** The strictest answer, and the kind of its check. */
interface JudgedAnswer extends HookAnswer {
  readonly kind: HookCheck['kind'];
  /** True if the event has no other check. */
  readonly is_only: boolean;
}

function outcomeOf(dialect: Dialect, event: HookEvent, payload: Payload, answer: JudgedAnswer): Outcome {
  if (dialect.writeDecision !== undefined)
    return { reply: dialect.writeDecision(answer, payload, Date.now()), is_no: answer.decision === 'block' };
  if (answer.decision === 'allow') return yes(dialect.pass);
  const reason = reasonOf(answer);
  if (answer.decision === 'modify') {
    const changed =
      answer.is_only && answer.changed !== null && event.change?.(answer.changed, reason, payload);
    if (changed) return yes(changed);
    return no(event.deny(`${reason} ${whyBlocked(dialect, answer)}`, payload));
  }
  const may_ask = answer.action === 'require_approval' && answer.one_may_agree;
  const asked = may_ask ? event.ask?.(reason, payload) : undefined;
  return asked === undefined ? no(event.deny(reason, payload)) : yes(asked);
}

const CHANGED = {
  prompt: 'a redacted prompt',
  call: 'these changed arguments',
  result: 'a redacted result',
} as const;

/** Explains why content that a rule changes is blocked, and which setting allows it. */
function whyBlocked({ name }: Dialect, { rule, kind }: JudgedAnswer): string {
  const label = codingAgentRecords.find((agent) => agent.name === name)?.label;
  const who = label ?? `The coding agent of \`${name}\``;
  const what = `${who} cannot accept ${CHANGED[kind]}, so it was blocked.`;
  if (rule.startsWith('builtin.personal.'))
    return `${what} To allow personal data, set \`pii_protection.action: flag\`.`;
  return rule.startsWith('builtin.')
    ? what
    : `${what} To let it pass, change the action of \`${rule}\` to \`flag\`.`;
}

function yes(reply: HookReply): Outcome {
  return { reply, is_no: false };
}

function no(reply: HookReply): Outcome {
  return { reply, is_no: true };
}

const REASON_UNITS_MAX = 1_500;

/** Formats the reason that the agent shows: the rule, its reason, and the event and approval request to look up. */
function reasonOf({ rule, reason, event_id, approval }: HookAnswer): string {
  const request =
    approval === null
      ? ''
      : ` Approval request ${approval.request_id} is ${approval.status}. An operator decides on it outside of this session; then repeat the call.`;
  const event = event_id === null ? '' : ` (rule ${rule}, event ${event_id})`;
  return `${reason.slice(0, REASON_UNITS_MAX)}${request}${event}`;
}

/** The time limit passed without a decision. */
class TooLate extends Error {
  constructor(ms: number) {
    super(
      `No decision came within ${ms} ms, so it is refused. If this goes on, end the process that \`.service/owner.json\` names.`,
    );
    this.name = 'TooLate';
  }
}

/** A refusal by the owner of the state folder that is not the result of a rule. */
class OwnerFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OwnerFailure';
  }
}

function unknownDialect(): string {
  const names = dialects.map(({ name }) => name).join(', ');
  return `--dialect is one of ${names}, or one of a plug-in of the configuration (\`service plugins list\`).`;
}

/** Returns the message for the agent. It contains only text of the service and none of unknown errors. */
function sentenceOf(failure: unknown): string {
  if (failure instanceof Unreadable)
    return `The coding agent sent an event that cannot be evaluated: ${failure.message}. It is refused.`;
  if (failure instanceof UsageFailure || failure instanceof TooLate || failure instanceof OwnerFailure)
    return failure.message;
  const { name, message } = failure as Error;
  if (name === 'StartFailure' || name === 'StoreFailure')
    return `${message}${firstOf(failure as StartFailure)} Until this is fixed, everything is refused.`;
  return 'A fault in the hook kept it from deciding, so it is refused. `service doctor` says more.';
}

/** Returns the first problem of the configuration, which names keys and no values. */
function firstOf({ problems = [] }: Partial<StartFailure>): string {
  const [first] = problems;
  return first === undefined ? '' : ` The first: ${first.file}, ${first.path}: ${first.message}.`;
}

/** Writes the reply once and ends the process; later replies are ignored. */
function finish(desk: Desk, { reply, is_no }: Outcome): void {
  if (desk.is_told) return;
  desk.is_told = true;
  const { options, process, afterwards } = desk;
  void tell(process, reply, is_no && options.exit_code && reply.code === 0 ? 1 : reply.code, afterwards);
}

async function tell(
  { exit, write }: HookProcess,
  { stdout, stderr }: HookReply,
  code: 0 | 1 | 2,
  afterwards: Desk['afterwards'],
): Promise<void> {
  try {
    if (stderr !== '') write(2, stderr);
    if (stdout !== '') write(1, stdout);
  } catch {
    // The agent has closed the stream; exit code 2 still denies.
    exit(2);
    return;
  }
  try {
    await afterwards();
  } catch {
    // The daemon could not be started, so the next hook decides in its own process again.
  }
  exit(code);
}
