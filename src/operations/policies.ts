import { evaluate } from '../core/decision/evaluate.ts';
import { Type } from '../core/schema.ts';
import { ACTIONS, BOUNDARIES } from '../core/types/index.ts';
import { loadConditions } from '../runtime/policies/conditions.ts';
import { defineOperation, Refusal } from './operation.ts';
import { dataTags, tenantId } from './shapes.ts';
import { resolveTenant } from './subject.ts';

export const policiesReload = defineOperation({
  name: 'policies_reload',
  summary: 'Reload the policy',
  description:
    'Reads the configuration and all documents again and activates them in every worker, or in none. If one is invalid, the previous policy stays active and the response lists the problems.',
  http: { method: 'POST', path: '/v1/policies/reload' },
  mcp: { tool: 'reload_policies', read_only: false },
  permission: 'policy:reload',
  needs: 'live',
  input: Type.Object({}),
  output: Type.Object({
    reloaded: Type.Literal(true),
    policy_hash: Type.String(),
    generation: Type.Integer({ description: 'Counts the policies since the start.' }),
    changed: Type.Boolean({ description: 'Whether the new policy differs from the old one.' }),
    warnings: Type.Array(Type.String()),
  }),
  example: {},
  answer: {
    reloaded: true,
    policy_hash: 'sha256:38f38e7058a42e1293f8673967ba3d8f569db3907dc1d69e27690039ebe7275e',
    generation: 1,
    changed: false,
    warnings: [],
  },
  refusals: ['policy_invalid'],
  async run(_input, { runtime, caller }) {
    const report = await runtime.reload(caller);
    if (report.reloaded) return { ...report, warnings: [...report.warnings] };
    throw new Refusal(
      'policy_invalid',
      'The reload failed; the previous policy is still active. The details list the problems.',
      report.problems.map(({ file, path, message }) => ({
        path: path === '' ? file : `${file}: ${path}`,
        message,
      })),
    );
  },
});

export const policyEvaluate = defineOperation({
  name: 'policy_evaluate',
  summary: 'Evaluate the policy for data tags',
  description:
    'Evaluates tags at a boundary for a tenant, without any text and without an audit event, and gives the one action.',
  http: { method: 'POST', path: '/v1/policies/evaluate' },
  permission: 'policy:read',
  needs: 'policy',
  input: Type.Object({
    boundary: Type.Enum(BOUNDARIES),
    data_tags: Type.Optional(dataTags),
    session_tags: Type.Optional({ ...dataTags, description: 'Taint tags of the session.' }),
    tenant_id: Type.Optional(tenantId),
  }),
  output: Type.Object({ action: Type.Enum(ACTIONS) }),
  example: { boundary: 'output', data_tags: ['personal.pii'] },
  answer: { action: 'redact' },
  async run(input, context) {
    const policy = context.runtime.policy();
    const tags = (input.data_tags ?? []).map((tag) => tag.toLowerCase());
    const tenant = resolveTenant({ tenant_id: input.tenant_id }, context);
    const { boundary, session_tags = [] } = input;
    const request = { boundary, data_tags: tags, session_tags, tenant_id: tenant };
    return { action: evaluate(policy, request, await loadConditions(policy)) };
  },
});
