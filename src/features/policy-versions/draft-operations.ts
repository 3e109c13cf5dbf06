import { Type } from '../../core/schema.ts';
import { buildPolicyRefusal } from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { dropBlankName, resolveTenant } from '../../operations/subject.ts';
import { AuditFilterError } from '../../runtime/audit/filter.ts';
import type { ReplayFilter } from '../../runtime/policies/replay.ts';
import { compileManagedDraft, draftInput, readConfig } from './draft.ts';

const problem = Type.Object({
  file: Type.String(),
  path: Type.String(),
  message: Type.String(),
  line: Type.Optional(Type.Integer()),
  level: Type.Optional(Type.Enum(['error', 'warning'])),
});
const problems = Type.Array(problem);

const DRAFT =
  'policies:\n  - {name: no-cards, boundary: output, data_tags: [personal.financial.card], action: block}\n';

export const policyLint = defineOperation({
  name: 'policy_lint',
  summary: 'Lint a draft of the policy',
  description:
    'Compiles a draft together with the configuration and the policy files, and lists problems and probable mistakes. Nothing changes. Without a draft the active policy is examined.',
  http: { method: 'POST', path: '/v1/dashboard/policies/lint' },
  permission: 'policies:edit',
  caller: 'person',
  tenants: 'all',
  needs: 'live',
  input: Type.Object(draftInput),
  output: Type.Object({
    valid: Type.Boolean(),
    policy_hash: Type.Nullable(Type.String()),
    problems,
    remarks: Type.Array(
      { ...problem, properties: { ...problem.properties, id: Type.String() } },
      { description: 'Probable mistakes. A policy with remarks is valid.' },
    ),
  }),
  example: { text: DRAFT },
  answer: null,
  async run(input, context) {
    const made = await compileManagedDraft(input, context);
    if (!made.ok)
      return { valid: false, policy_hash: null, problems: made.problems.map(copyValue), remarks: [] };
    const { lintPolicy } = await import('../../runtime/policies/lint.ts');
    const { policy_hash, remarks } = await lintPolicy(await readConfig(context), made);
    return {
      valid: true,
      policy_hash,
      problems: made.warnings.map(copyValue),
      remarks: remarks.map(copyValue),
    };
  },
});

export const policyTest = defineOperation({
  name: 'policy_test',
  summary: 'Run the test cases against a draft of the policy',
  description:
    'Runs the cases of `policies/tests/*.yaml` and `policies/*.test.yaml` next to the configuration, or those that are sent, against a draft. Nothing changes and nothing is recorded.',
  http: { method: 'POST', path: '/v1/dashboard/policies/test' },
  permission: 'policies:edit',
  caller: 'person',
  tenants: 'all',
  needs: 'live',
  input: Type.Object({
    ...draftInput,
    cases: Type.Optional(
      Type.String({
        maxLength: 262_144,
        description:
          'YAML with `tests`, as in a file of cases. Default: the files next to the configuration.',
      }),
    ),
  }),
  output: Type.Object({
    policy_hash: Type.String(),
    passed: Type.Integer(),
    failed: Type.Integer(),
    results: Type.Array(
      Type.Object({
        file: Type.String(),
        line: Type.Integer(),
        name: Type.String(),
        differences: Type.Array(
          Type.Object({ field: Type.String(), expected: Type.String(), actual: Type.String() }),
          { description: 'Empty if the case passes.' },
        ),
      }),
    ),
    problems: { ...problems, description: 'Cases that are not valid; then no case was run.' },
  }),
  example: { cases: 'tests:\n  - {name: hello, boundary: input, text: hello, expect: {decision: allow}}\n' },
  answer: null,
  refusals: ['policy_invalid'],
  async run(input, context) {
    const made = await compileManagedDraft(input, context);
    if (!made.ok) throw buildPolicyRefusal(made.problems);
    const config = await readConfig(context);
    const [{ testPolicy }, { readPacks, findRuleFiles }] = await Promise.all([
      import('../../runtime/policies/test-policy.ts'),
      import('../../runtime/policies/packs.ts'),
    ]);
    const packs = await readPacks(config.origin.base_dir);
    const layers = { packs, fileOf: findRuleFiles(made.policy, made.places) };
    const source = input.cases === undefined ? [] : { text: input.cases };
    const report = await testPolicy(made.policy, config, source, config.origin.base_dir, layers);
    const failed = report.results.filter(({ differences }) => differences.length > 0).length;
    return {
      policy_hash: report.policy_hash,
      passed: report.results.length - failed,
      failed,
      results: report.results.map(({ differences, ...rest }) => ({
        ...rest,
        differences: differences.map(({ field, expected, actual }) => ({ field, expected, actual })),
      })),
      problems: report.problems.map(copyValue),
    };
  },
});

const SINCE_DEFAULT = '24h';

const countFields = {
  same: Type.Integer(),
  stricter: Type.Integer(),
  less_strict: Type.Integer(),
  unknown: Type.Integer(),
} as const;
const replayCounts = Type.Object(countFields);
const replayRows = Type.Array(Type.Object({ name: Type.String(), ...countFields }), {
  description: 'The names with the most changes first.',
});
const replayExamples = Type.Array(
  Type.Object({
    event_id: Type.String(),
    agent_id: Type.String(),
    tool_name: Type.Nullable(Type.String()),
    data_tags: Type.Array(Type.String()),
    from: Type.String(),
    to: Type.String(),
    from_rule: Type.String(),
    to_rule: Type.String(),
  }),
  { description: 'The first examples.' },
);

export const policyReplay = defineOperation({
  name: 'policy_replay',
  summary: 'Replay recorded decisions under a draft of the policy',
  description:
    'Evaluates the recorded decisions of a period under a draft, and counts those that would change, with examples. The policy is evaluated on recorded tags and facts, because no text is stored; decisions that cannot be replayed are counted by reason. Nothing changes.',
  http: { method: 'POST', path: '/v1/dashboard/policies/replay' },
  permission: 'policies:edit',
  caller: 'person',
  tenants: 'all',
  needs: 'live',
  input: Type.Object({
    ...draftInput,
    since: Type.Optional(
      Type.String({
        maxLength: 64,
        description: `ISO 8601, or a duration before now. Default \`${SINCE_DEFAULT}\`.`,
      }),
    ),
    until: Type.Optional(
      Type.String({ maxLength: 64, description: 'ISO 8601, or a duration before now. Default: now.' }),
    ),
    agent_id: Type.Optional(Type.Nullable(Type.String({ maxLength: 256 }))),
    tool_name: Type.Optional(Type.Nullable(Type.String({ maxLength: 256 }))),
    data_tag: Type.Optional(
      Type.Nullable(Type.String({ maxLength: 256, description: 'The tag and its descendants.' })),
    ),
    event_tenant_id: Type.Optional(
      Type.Nullable(
        Type.String({
          maxLength: 256,
          description: 'Only decisions for this tenant. Default: all that the caller may see.',
        }),
      ),
    ),
  }),
  output: Type.Object({
    policy_hash: Type.String(),
    since: Type.String(),
    until: Type.Nullable(Type.String()),
    total: { ...replayCounts, description: 'The recorded decisions of the period, by kind of change.' },
    unknown: Type.Record(Type.String(), Type.Integer(), {
      description: 'Decisions that cannot be replayed, by reason.',
    }),
    transitions: Type.Array(Type.Object({ from: Type.String(), to: Type.String(), count: Type.Integer() }), {
      description: 'The changes of the action.',
    }),
    by_agent: replayRows,
    by_tool: replayRows,
    by_tag: replayRows,
    stricter: replayExamples,
    less_strict: replayExamples,
  }),
  example: { text: DRAFT, since: '1h' },
  answer: null,
  refusals: ['policy_invalid', 'unavailable'],
  async run(input, context) {
    const made = await compileManagedDraft(input, context);
    if (!made.ok) throw buildPolicyRefusal(made.problems);
    if (isReplaying)
      throw new Refusal('unavailable', 'Another replay is running. Try again when it has ended.');
    isReplaying = true;
    try {
      const [{ replayApart }, { formatReplay }] = await Promise.all([
        import('../../runtime/policies/run-apart.ts'),
        import('../../runtime/policies/format-replay.ts'),
      ]);
      const { runtime } = context;
      const request = {
        state_dir: runtime.limits.state_dir,
        next: made.policy,
        active: runtime.policy(),
        filter: readFilter(input, context),
        now_ms: runtime.now_ms(),
      };
      const report = await replayApart(request, context.signal?.());
      return formatReplay(report, made.policy.hash);
    } catch (error) {
      if (error instanceof AuditFilterError)
        throw new Refusal('invalid_request', error.message, error.details);
      throw error;
    } finally {
      isReplaying = false;
    }
  },
});

/** A replay reads the whole journal, so each process runs one at a time. */
let isReplaying = false;

type ReplayInput = Readonly<
  Partial<
    Record<'since' | 'until' | 'agent_id' | 'tool_name' | 'data_tag' | 'event_tenant_id', string | null>
  >
>;

function readFilter(input: ReplayInput, context: Context): ReplayFilter {
  const { event_tenant_id } = input;
  const names = Object.fromEntries(
    (['until', 'agent_id', 'tool_name', 'data_tag'] as const).flatMap((field) => {
      const value = dropBlankName(input[field]);
      return value === null ? [] : [[field, value]];
    }),
  );
  const isLimited = context.caller.tenants !== '*' || dropBlankName(event_tenant_id) !== null;
  const tenant = isLimited ? { tenant_id: resolveTenant({ tenant_id: event_tenant_id }, context) } : {};
  return { since: dropBlankName(input.since) ?? SINCE_DEFAULT, ...names, ...tenant };
}

function copyValue<Value extends object>(value: Value): Value {
  return { ...value };
}
