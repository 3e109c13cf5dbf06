import { Type } from '../../core/schema.ts';
import { defineOperation, Refusal } from '../../operations/operation.ts';
import { approvalRequestIdSchema, buildNotFoundRefusal, createScopeFilter } from './operations.ts';
import { replayProposedRule } from './rule-proposal.ts';
import { GRANT_SCOPES } from './scope-names.ts';

export const approvalsProposal = defineOperation({
  name: 'approvals_proposal',
  summary: 'Propose a rule for an approval request',
  description:
    'For a request whose equals were approved five times in seven days and never denied: proposes a rule and replays the recorded calls under it, or proposes the longest grant if a rule would need argument values. Nothing changes.',
  http: { method: 'GET', path: '/v1/approvals/{request_id}/proposal' },
  cli: {
    verb: 'approvals proposal',
    arguments: ['request_id'],
    examples: [['customshouse approvals proposal apr_0123456789abcdef01234567', '']],
  },
  permission: 'approvals:decide',
  caller: 'person',
  needs: 'live',
  input: Type.Object({ request_id: approvalRequestIdSchema }),
  output: Type.Object({
    request_id: Type.String(),
    kind: Type.Enum(['rule', 'grant'], { description: 'Whether a rule can say it.' }),
    reason: Type.String(),
    policy: Type.Nullable(Type.String({ description: 'A policy document in YAML; `null` for a grant.' })),
    grant: Type.Nullable(
      Type.Object({
        scope: Type.Enum(GRANT_SCOPES),
        uses_max: Type.Integer(),
        ttl: Type.String(),
      }),
    ),
    replay: Type.Nullable(
      Type.Object({
        since: Type.String(),
        same: Type.Integer(),
        stricter: Type.Integer(),
        less_strict: Type.Integer(),
        unknown: Type.Integer({ description: 'Decisions that cannot be replayed.' }),
      }),
    ),
  }),
  example: { request_id: 'apr_0123456789abcdef01234567' },
  answer: null,
  refusals: ['not_found', 'conflict', 'unavailable', 'policy_invalid'],
  async run({ request_id }, context) {
    const proposed = await (await context.runtime.approvals()).propose(request_id);
    if (proposed === null || !createScopeFilter(context)(proposed.subject))
      throw buildNotFoundRefusal(request_id);
    if (proposed.proposal === null)
      throw new Refusal(
        'conflict',
        'Nothing is proposed: too few equal requests were approved, or one was denied.',
      );
    const { policy } = proposed.proposal;
    if (policy === null) return { request_id, ...proposed.proposal, replay: null };
    const replay = await replayProposedRule(policy, proposed.subject, context);
    return { request_id, ...proposed.proposal, replay };
  },
});
