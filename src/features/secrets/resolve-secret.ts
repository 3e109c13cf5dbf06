import type { Crossing } from '../../core/types/index.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import type {
  CapabilityPresentation,
  CrossingCapability,
  PresentCapability,
} from '../../runtime/enforcement/capability.ts';
import { buildToolCrossing } from '../../runtime/enforcement/crossings.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import { SECRET_TAG } from '../../runtime/secrets/secret-read-events.ts';
import { SecretReadError, type Secrets } from '../../runtime/secrets/secrets.ts';

/** The request of an agent for the value of a secret for a tool, with a capability token. */
export interface SecretRequest
  extends Omit<CapabilityPresentation, 'caller_id' | 'has_credential' | 'secret_key'> {
  readonly secret_key: string;
  readonly source_agent_id: string | null;
}

/** The outcome of a request. It is recorded in the audit log before it is returned. */
export type SecretResolution =
  | { readonly result: 'allow'; readonly value: string; readonly ruling: Ruling }
  | { readonly result: 'denied'; readonly ruling: Ruling }
  | { readonly result: 'missing' | 'error'; readonly message: string };

export interface ResolveSecretParts {
  /** The backend's name. */
  readonly backend: string;
  /** Rejects with a `SecretReadError` if the backend cannot be opened. */
  readonly secrets: () => Promise<Secrets>;
  readonly presentCapability: PresentCapability;
  readonly enforce: (crossing: Crossing) => ReturnType<Runtime['enforce']>;
  readonly caller: Caller;
  readonly now_ms: () => number;
  readonly policy_hash: () => string;
  readonly note: Runtime['note'];
}

/** The tool name by which rules, contracts and identities match the resolution of a secret. */
const RESOLVE_TOOL = 'secrets.resolve';

/**
 * Resolves a secret for an agent. The token must allow it, then the policy, then the backend must have the secret. The
 * token is consumed after that, because it may have expired in the meantime. Last, the outcome is recorded.
 *
 * @throws Unavailable if the outcome cannot be recorded; the value is not returned then
 */
export async function resolveSecret(
  request: SecretRequest,
  parts: ResolveSecretParts,
): Promise<SecretResolution> {
  const { id: callerId, kind } = parts.caller;
  const presented: CapabilityPresentation = {
    ...request,
    caller_id: callerId,
    has_credential: kind !== 'anonymous',
  };
  const looked = await parts.presentCapability('check', presented);
  const ruling = await judgeRequest(request, looked, parts);
  if (ruling.verdict.decision !== 'allow')
    return recordResolution({ result: 'denied', ruling }, request, looked, parts);
  const read = await readValue(request.secret_key, parts);
  if (read.result !== 'allow') return recordResolution(read, request, looked, parts);
  const taken = await parts.presentCapability('use', presented);
  if (taken.refusal !== null) {
    const again = await judgeRequest(request, taken, parts);
    return recordResolution({ result: 'denied', ruling: again }, request, taken, parts);
  }
  return recordResolution({ ...read, ruling }, request, taken, parts);
}

function judgeRequest(
  request: SecretRequest,
  capability: CrossingCapability,
  { enforce, now_ms }: ResolveSecretParts,
): Promise<Ruling> {
  const { secret_key, tool, action, tenant_id, agent_id, session_id, source_agent_id } = request;
  const acting = { tenant_id, agent_id, session_id, source_agent_id, declared_tags: [], now_ms: now_ms() };
  const content = { kind: 'json', value: { key: secret_key, tool, action } } as const;
  const crossing = buildToolCrossing(acting, { phase: 'request', tool: RESOLVE_TOOL, content, capability });
  return enforce(crossing);
}

type SecretValue =
  | { readonly result: 'allow'; readonly value: string }
  | Extract<SecretResolution, { message: string }>;

async function readValue(key: string, { backend, secrets }: ResolveSecretParts): Promise<SecretValue> {
  try {
    const value = await (await secrets()).get(key);
    if (value !== null) return { result: 'allow', value };
    return { result: 'missing', message: `The backend \`${backend}\` has no secret \`${key}\`.` };
  } catch (error) {
    if (error instanceof SecretReadError) return { result: 'error', message: error.message };
    throw error;
  }
}

const REASONS: Readonly<Record<SecretResolution['result'], string>> = {
  allow: 'The secret was given to the agent.',
  denied: 'The secret was not given: the capability token or the policy does not allow it.',
  missing: 'The secret was not given: the backend does not have it.',
  error: 'The secret was not given: the backend could not be read.',
};

/** Records the outcome and returns it. */
async function recordResolution<Answer extends SecretResolution>(
  answer: Answer,
  request: SecretRequest,
  capability: CrossingCapability,
  { backend, caller, now_ms, policy_hash, note }: ResolveSecretParts,
): Promise<Answer> {
  const atMs = now_ms();
  const event = buildServiceEvent({
    event_id: createEventId(atMs),
    now_ms: atMs,
    phase: 'secret_resolve',
    done: answer.result === 'allow',
    reason: REASONS[answer.result],
    caller_id: caller.id,
    policy_hash: policy_hash(),
    about: { ...request, tool_name: request.tool, data_tags: [SECRET_TAG] },
    metadata: {
      ...(capability.token_id !== null && { capability_token_id: capability.token_id }),
      ...('ruling' in answer && { decision_event_id: answer.ruling.event_id }),
      result: answer.result,
      secret_backend: backend,
      // A name with findings may be the secret itself.
      ...(!hasFindings(answer) && { secret_key: request.secret_key }),
    },
  });
  await note(event);
  return answer;
}

function hasFindings(answer: SecretResolution): boolean {
  return 'ruling' in answer && answer.ruling.verdict.findings.length > 0;
}
