import { Type } from '../../core/schema.ts';
import { SECRET_DRIVER_NAMES, type SecretDriverName } from '../../drivers/secrets/index.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { buildPresentedToken } from '../../operations/presented-token.ts';
import { buildVerdictReply } from '../../operations/reply.ts';
import {
  agentId,
  approvalRequestId,
  capabilityAction,
  capabilityToken,
  name,
  PRINTABLE_TEXT,
  sessionId,
  tenantId,
  verdictProperties,
} from '../../operations/shapes.ts';
import { dropBlankName, resolveSubject } from '../../operations/subject.ts';
import { KEY_CHARACTERS_MAX, KEY_PATTERN } from '../../runtime/secrets/keys.ts';
import { buildSecretReadEvents } from '../../runtime/secrets/secret-read-events.ts';
import { SecretReadError, type Secrets } from '../../runtime/secrets/secrets.ts';
import { resolveSecret } from './resolve-secret.ts';

const secretKey = Type.String({
  minLength: 1,
  maxLength: KEY_CHARACTERS_MAX,
  pattern: KEY_PATTERN,
  description: 'Its name in the backend.',
});

export const secretsResolve = defineOperation({
  name: 'secrets_resolve',
  summary: 'Resolve a secret for an agent',
  description:
    'Gives the value of a secret to an agent that shows a capability token for it. The token must be for this agent, session, tool and secret, and the policy must allow the tool `secrets.resolve`; what is not allowed answers 200 with `decision: block` and no value. Being on this machine is not enough: the credential needs the permission `secrets:resolve`.',
  http: { method: 'POST', path: '/v1/secrets/resolve' },
  permission: 'secrets:resolve',
  counts_checks: true,
  needs: 'live',
  input: Type.Object({
    secret_key: secretKey,
    capability_token_id: capabilityToken,
    capability_action: Type.Optional(capabilityAction),
    tool: Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: PRINTABLE_TEXT,
      description: 'The tool that needs it.',
    }),
    agent_id: Type.Optional(agentId),
    session_id: Type.Optional(sessionId),
    tenant_id: Type.Optional(tenantId),
    source_agent_id: Type.Optional({ ...name, description: 'The agent that acts (default: `agent_id`).' }),
    approval_request_id: Type.Optional(approvalRequestId),
  }),
  output: Type.Object({
    ...verdictProperties,
    secret_key: Type.String(),
    agent_id: Type.String(),
    value: Type.Optional(
      Type.String({ description: 'Only when `decision` is `allow`. Keep it no longer than needed.' }),
    ),
  }),
  example: {
    secret_key: 'MAIL_PASSWORD',
    capability_token_id: 'svc_cap_0123456789abcdef01234567_…',
    tool: 'send_email',
    agent_id: 'support-bot',
    session_id: 'sess-1',
  },
  answer: {
    decision: 'block',
    action: 'block',
    rule: 'capability_token.unknown',
    reason: 'The capability token is not known.',
    help: 'Instead, continue without it. An operator can put a rule before `capability_token.unknown`, under `policies` in `service.yaml`.',
    event_id: 'evt_0123456789abcdef01234567',
    violations: [
      {
        type: 'identity_violation',
        detector: 'agent_identity',
        severity: 'high',
        rule: 'capability_token.unknown',
        reason: 'The capability token is not known.',
      },
    ],
    scan_duration_ms: 1,
    coverage: 'full',
    secret_key: 'MAIL_PASSWORD',
    agent_id: 'support-bot',
  },
  refusals: ['not_found', 'not_configured', 'agent_context_required'],
  async run(input, context) {
    const { runtime, caller } = context;
    const { secret_key } = input;
    const { source_agent_id } = resolveSubject(input, context);
    const presented = buildPresentedToken(input, input.tool, context);
    if (presented.agent_id === 'unknown')
      throw new Refusal('agent_context_required', 'Name the agent: `agent_id` says who wants the secret.');
    if (runtime.secrets === null) throw buildNotConfiguredRefusal();
    const answer = await resolveSecret(
      { ...presented, secret_key, source_agent_id },
      {
        backend: runtime.secrets.backend,
        secrets: runtime.secrets.open,
        presentCapability: runtime.presentCapability,
        enforce: (crossing) =>
          runtime.enforce(crossing, caller, 'secrets_resolve', dropBlankName(input.approval_request_id)),
        caller,
        now_ms: runtime.now_ms,
        policy_hash: () => runtime.policy().hash,
        note: runtime.note,
      },
    );
    if ('message' in answer)
      throw new Refusal(answer.result === 'missing' ? 'not_found' : 'unavailable', answer.message);
    return {
      ...buildVerdictReply(answer.ruling),
      // If a rule would redact the name, the value is not returned.
      decision: answer.result === 'allow' ? ('allow' as const) : ('block' as const),
      secret_key,
      agent_id: presented.agent_id,
      ...(answer.result === 'allow' && { value: answer.value }),
    };
  },
});

export const secretsCheck = defineOperation({
  name: 'secrets_check',
  summary: 'Check the secret backend',
  description:
    'Whether the running service reaches its secret backend, and which of the named secrets it can read there; never a value.',
  http: { method: 'POST', path: '/v1/secrets/check' },
  permission: 'secrets:check',
  needs: 'live',
  input: Type.Object({ secret_keys: Type.Optional(Type.Array(secretKey, { maxItems: 100 })) }),
  output: Type.Object({
    backend: Type.Enum(SECRET_DRIVER_NAMES),
    reachable: Type.Boolean(),
    reason: Type.Optional(Type.String({ description: 'Why not; only where it is not reachable.' })),
    secrets: Type.Array(
      Type.Object({
        secret_key: Type.String(),
        result: Type.Enum(['allow', 'missing', 'error'], { description: '`allow`: it can be read.' }),
        reason: Type.Optional(Type.String({ description: 'Only with `error`.' })),
      }),
    ),
  }),
  example: { secret_keys: ['MAIL_PASSWORD'] },
  answer: { backend: 'env', reachable: true, secrets: [{ secret_key: 'MAIL_PASSWORD', result: 'allow' }] },
  refusals: ['not_configured'],
  async run({ secret_keys = [] }, context) {
    const secrets = await openSecrets(context);
    const failure = await catchFailure(secrets.check());
    const results = await Promise.all([...new Set(secret_keys)].map((key) => checkSecret(key, secrets)));
    await recordChecks(results, secrets, context);
    return {
      backend: secrets.backend as SecretDriverName,
      reachable: failure === null,
      ...(failure !== null && { reason: failure }),
      secrets: results,
    };
  },
});

interface SecretCheckResult {
  readonly secret_key: string;
  readonly result: 'allow' | 'missing' | 'error';
  readonly reason?: string;
}

async function openSecrets({ runtime: { secrets } }: Context): Promise<Secrets> {
  if (secrets === null) throw buildNotConfiguredRefusal();
  try {
    return await secrets.open();
  } catch (error) {
    throw error instanceof SecretReadError ? new Refusal('unavailable', error.message) : error;
  }
}

async function checkSecret(key: string, secrets: Secrets): Promise<SecretCheckResult> {
  const value = secrets.get(key);
  const reason = await catchFailure(value);
  if (reason !== null) return { secret_key: key, result: 'error', reason };
  return { secret_key: key, result: (await value) === null ? 'missing' : 'allow' };
}

async function catchFailure(question: Promise<unknown>): Promise<string | null> {
  try {
    await question;
    return null;
  } catch (error) {
    if (error instanceof SecretReadError) return error.message;
    throw error;
  }
}

async function recordChecks(
  results: readonly SecretCheckResult[],
  { backend }: Secrets,
  { runtime, caller }: Context,
): Promise<void> {
  const by = { caller_id: caller.id, policy_hash: runtime.policy().hash };
  const readings = results.map(({ secret_key, result }) => ({ secret_key, result, secret_backend: backend }));
  for (const event of buildSecretReadEvents(readings, by, runtime.now_ms())) await runtime.note(event);
}

function buildNotConfiguredRefusal(): Refusal {
  return new Refusal(
    'not_configured',
    'No secret backend is configured: see `secrets.backend` in service.yaml.',
  );
}
