import { type ContractMatch, findContract } from '../../core/decision/find-contract.ts';
import { buildFaultVerdict, judge } from '../../core/decision/judge.ts';
import { type RecordedActions, recordShownAction } from '../../core/decision/shown-action.ts';
import { celEvaluator } from '../../core/policy/conditions/cel.ts';
import { hasConditions } from '../../core/policy/conditions/facts.ts';
import { openStream, type StreamRelease } from '../../core/stream/stream.ts';
import type {
  Content,
  Crossing,
  CrossingContext,
  Fingerprinter,
  Policy,
  Verdict,
} from '../../core/types/index.ts';
import { buildFailedVerdict, type CheckBody, type GuardBackend } from '../backend.ts';
import { AIBackendNotConfiguredError, CustomshouseError, ServiceRequiredError } from '../errors.ts';
import type { GuardOperation, GuardStream, GuardVerdict, StreamPiece } from '../types.ts';
import { buildDecisionRecord, type DecisionRecord } from './audit-record.ts';
import { createEventIds, type RandomSource } from './event-ids.ts';
import { buildGuardVerdict, buildRequestContext, buildRequestCrossing } from './judge-request.ts';
import { createLocalSessions, type LocalSessions } from './local-sessions.ts';

/** Receives the decisions of a local guard. A decision that `write` throws on is a block. */
export interface DecisionSink {
  readonly write: (record: DecisionRecord) => void;
  readonly close: () => Promise<void>;
}

/** Parts that a local back end needs. */
export interface LocalParts {
  readonly policy: Policy;
  readonly sink: DecisionSink;
  readonly fingerprintOf?: Fingerprinter | null;
  /** Milliseconds since 1970. */
  readonly now_ms: () => number;
  readonly fillRandom: RandomSource;
  /** The calls that the records hold (default: `blocked`). */
  readonly log_actions?: RecordedActions;
}

/** State of a policy that decides in this process. */
export interface LocalState extends Omit<LocalParts, 'fillRandom'> {
  readonly sessions: LocalSessions;
  readonly createEventId: (nowMs: number) => string;
}

/** Creates the state of a policy, without any session. */
export function createLocalState(parts: Omit<LocalState, 'sessions'>): LocalState {
  return { ...parts, sessions: createLocalSessions(parts.policy, () => parts.createEventId(0)) };
}

/** Opens the back end that decides in this process. It judges with the engine that the service has. */
export function openLocalBackend(parts: LocalParts): GuardBackend {
  const { fillRandom, sink } = parts;
  const state = createLocalState({ ...parts, createEventId: createEventIds(fillRandom) });
  return {
    kind: 'local',
    check: async (operation, body) => checkLocally(state, operation, body),
    openStream: (boundary, body) => openLocalStream(state, boundary, body),
    findApproval: async () => {
      throw new ServiceRequiredError(NO_APPROVALS);
    },
    advise: async () => {
      throw new AIBackendNotConfiguredError(NO_ADVISORS);
    },
    close: () => sink.close(),
  };
}

const NO_APPROVALS = 'Approvals are kept by a service. Use `createClientGuard`.';
const NO_ADVISORS =
  'A local guard has no AI back end. Start a service with `intelligence.enabled: true` and `intelligence.backend` in service.yaml, and ask it with `createClientGuard({ url })`.';
const NO_CAPABILITIES =
  'Capability tokens are checked by a service, and this guard is local. Use `createClientGuard`.';

/**
 * Decides on a request and records the decision. Synchronous; never throws.
 *
 * @param exact - the content of the body with its original text; without it, the value in the body
 */
export function checkLocally(
  state: LocalState,
  operation: GuardOperation,
  body: CheckBody,
  exact: Content | null = null,
): GuardVerdict {
  try {
    if (body.capability_token_id !== undefined)
      return buildFailedVerdict('sdk.service_required', NO_CAPABILITIES);
    const request = buildRequestCrossing(operation, body, state.now_ms());
    if (!request.ok) return buildFailedVerdict('sdk.invalid_request', request.reason);
    const given = exact === null ? request.crossing : { ...request.crossing, content: exact };
    const contract = findContract(given, state.policy);
    const crossing = state.sessions.load(given, contract);
    const eventId = state.createEventId(crossing.now_ms);
    const verdict = judgeInSession(state, crossing, contract, eventId);
    return recordVerdict(state, operation, crossing, verdict, eventId);
  } catch {
    return buildFailedVerdict('sdk.fault', 'A fault inside the SDK kept it from deciding, so it blocks.');
  }
}

function judgeInSession(
  state: LocalState,
  crossing: Crossing,
  contract: ContractMatch,
  eventId: string,
): Verdict {
  const { policy, sessions, fingerprintOf = null } = state;
  const verdict = judge(crossing, policy, fingerprintOf, getConditions(policy), contract);
  return sessions.save(crossing, verdict, contract, eventId) ? verdict : blockFullSession(policy);
}

function getConditions(policy: Policy): typeof celEvaluator | null {
  return hasConditions(policy) ? celEvaluator : null;
}

function blockFullSession(policy: Policy): Verdict {
  const reason = 'The sessions of this process have reached their limit, so it blocks.';
  return { ...buildFaultVerdict(policy), rule: 'limit.session_tags', reason, fault: false };
}

/** Records a decision before it is given. A decision that cannot be recorded is a block. */
function recordVerdict(
  state: LocalState,
  operation: GuardOperation,
  crossing: Crossing,
  verdict: Verdict,
  eventId: string,
): GuardVerdict {
  try {
    const { policy, log_actions = 'blocked' } = state;
    const shown = recordShownAction(crossing, verdict, log_actions, policy.redaction.typed);
    state.sink.write({ ...buildDecisionRecord(eventId, operation, crossing, verdict), ...shown });
  } catch (error) {
    const why = error instanceof CustomshouseError ? ` ${error.message}` : '';
    const reason = `The decision could not be recorded, so it is not given.${why}`;
    return buildFailedVerdict('fault.audit', reason);
  }
  return buildGuardVerdict(operation, verdict, crossing, eventId);
}

/** The steps of a stream in this process. They do not throw. */
export interface StreamSteps {
  readonly push: (text: string) => StreamPiece;
  readonly end: () => StreamPiece;
}

/** Opens a stream that is decided in this process. Synchronous. */
export function openLocalSteps(
  state: LocalState,
  boundary: 'input' | 'output',
  body: CheckBody,
): StreamSteps {
  const operation = boundary === 'input' ? 'scan_input' : 'guard_output';
  const request = buildRequestCrossing(operation, { ...body, text: '' }, state.now_ms());
  if (!request.ok) return openFailedSteps(buildFailedVerdict('sdk.invalid_request', request.reason));
  const { policy, fingerprintOf = null } = state;
  const given = buildRequestContext(operation, body, state.now_ms());
  const contract = findContract(given, policy);
  const context: CrossingContext = state.sessions.load(given, contract);
  const stream = openStream(policy, context, fingerprintOf, getConditions(policy));
  let ended: GuardVerdict | null = null;
  const finish = ({ text, verdict }: StreamRelease): StreamPiece => {
    if (verdict === null) return { text, verdict: null };
    const crossing: Crossing = { ...context, content: { kind: 'text', text: stream.text() } };
    const eventId = state.createEventId(crossing.now_ms);
    const kept = state.sessions.save(context, verdict, contract, eventId)
      ? verdict
      : blockFullSession(policy);
    ended = recordVerdict(state, operation, crossing, kept, eventId);
    return { text: ended.fault && !verdict.fault ? '' : text, verdict: ended };
  };
  const take = (work: () => StreamRelease): StreamPiece => {
    if (ended !== null) return { text: '', verdict: ended };
    try {
      return finish(work());
    } catch {
      ended = buildFailedVerdict('sdk.fault', 'A fault inside the SDK ended the stream, so it blocks.');
      return { text: '', verdict: ended };
    }
  };
  return { push: (text) => take(() => stream.push(text)), end: () => take(() => stream.end()) };
}

function openFailedSteps(verdict: GuardVerdict): StreamSteps {
  const piece = (): StreamPiece => ({ text: '', verdict });
  return { push: piece, end: piece };
}

function openLocalStream(state: LocalState, boundary: 'input' | 'output', body: CheckBody): GuardStream {
  const steps = openLocalSteps(state, boundary, body);
  return { push: async (text) => steps.push(text), end: async () => steps.end() };
}
