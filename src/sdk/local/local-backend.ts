import { buildFaultVerdict, judge } from '../../core/decision/judge.ts';
import { celEvaluator } from '../../core/policy/conditions/cel.ts';
import { hasConditions } from '../../core/policy/conditions/facts.ts';
import { openStream, type StreamRelease } from '../../core/stream/stream.ts';
import type { Crossing, CrossingContext, Fingerprinter, Policy, Verdict } from '../../core/types/index.ts';
import { buildFailedVerdict, type CheckBody, type GuardBackend } from '../backend.ts';
import { AIBackendNotConfiguredError, ServiceRequiredError } from '../errors.ts';
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
}

interface LocalState extends LocalParts {
  readonly sessions: LocalSessions;
  readonly createEventId: (now_ms: number) => string;
}

/** Opens the back end that decides in this process. It judges with the engine that the service has. */
export function openLocalBackend(parts: LocalParts): GuardBackend {
  const { policy, fillRandom, sink } = parts;
  const state = {
    ...parts,
    sessions: createLocalSessions(policy),
    createEventId: createEventIds(fillRandom),
  };
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

/** Decides on a request and records the decision. Synchronous; never throws. */
function checkLocally(state: LocalState, operation: GuardOperation, body: CheckBody): GuardVerdict {
  try {
    if (body.capability_token_id !== undefined)
      return buildFailedVerdict('sdk.service_required', NO_CAPABILITIES);
    const request = buildRequestCrossing(operation, body, state.now_ms());
    if (!request.ok) return buildFailedVerdict('sdk.invalid_request', request.reason);
    const crossing = state.sessions.load(request.crossing);
    const verdict = judgeInSession(state, crossing);
    return record(state, operation, crossing, verdict);
  } catch {
    return buildFailedVerdict('sdk.fault', 'A fault inside the SDK kept it from deciding, so it blocks.');
  }
}

function judgeInSession(state: LocalState, crossing: Crossing): Verdict {
  const { policy, sessions, fingerprintOf = null } = state;
  const verdict = judge(crossing, policy, fingerprintOf, conditionsOf(policy));
  return sessions.save(crossing, verdict) ? verdict : blockFullSession(policy);
}

function conditionsOf(policy: Policy): typeof celEvaluator | null {
  return hasConditions(policy) ? celEvaluator : null;
}

function blockFullSession(policy: Policy): Verdict {
  const reason = 'The sessions of this process have reached their limit, so it blocks.';
  return { ...buildFaultVerdict(policy), rule: 'limit.session_tags', reason, fault: false };
}

/** Records a decision before it is given. A decision that cannot be recorded is a block. */
function record(
  state: LocalState,
  operation: GuardOperation,
  crossing: Crossing,
  verdict: Verdict,
): GuardVerdict {
  const event_id = state.createEventId(crossing.now_ms);
  try {
    state.sink.write(buildDecisionRecord(event_id, operation, crossing, verdict));
  } catch {
    const reason = 'The decision could not be written to the journal, so it is not given.';
    return buildFailedVerdict('fault.audit', reason);
  }
  return buildGuardVerdict(operation, verdict, crossing, event_id);
}

function openLocalStream(state: LocalState, boundary: 'input' | 'output', body: CheckBody): GuardStream {
  const operation = boundary === 'input' ? 'scan_input' : 'guard_output';
  const request = buildRequestCrossing(operation, { ...body, text: '' }, state.now_ms());
  if (!request.ok) return openFailedStream(buildFailedVerdict('sdk.invalid_request', request.reason));
  const { policy, fingerprintOf = null } = state;
  const context: CrossingContext = state.sessions.load(buildRequestContext(operation, body, state.now_ms()));
  const stream = openStream(policy, context, fingerprintOf, conditionsOf(policy));
  let ended: GuardVerdict | null = null;
  const finish = ({ text, verdict }: StreamRelease): StreamPiece => {
    if (verdict === null) return { text, verdict: null };
    const crossing: Crossing = { ...context, content: { kind: 'text', text: stream.text() } };
    const kept = state.sessions.save(context, verdict) ? verdict : blockFullSession(policy);
    ended = record(state, operation, crossing, kept);
    return { text: ended.fault && !verdict.fault ? '' : text, verdict: ended };
  };
  const take = async (work: () => StreamRelease): Promise<StreamPiece> => {
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

function openFailedStream(verdict: GuardVerdict): GuardStream {
  const piece = async (): Promise<StreamPiece> => ({ text: '', verdict });
  return { push: piece, end: piece };
}
