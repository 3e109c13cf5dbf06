import { Type } from '../../core/schema.ts';
import { FRAMEWORK_IDS, type FrameworkId, findFrameworkId } from '../../operations/compliance-frameworks.ts';
import { defineOperation, Refusal } from '../../operations/operation.ts';
import { name } from '../../operations/shapes.ts';
import { dropBlankName } from '../../operations/subject.ts';
import { loadFramework } from './frameworks.ts';
import { renderComplianceReport } from './render.ts';
import { reportProperties } from './report-schema.ts';
import { runSelfTest } from './verify/run-self-test.ts';
import { resolveReportWindow } from './window.ts';

const time = { ...name, maxLength: 40 } as const;

const frameworkSchema = Type.String({
  maxLength: 64,
  description: `One of ${FRAMEWORK_IDS.map((id) => `\`${id}\``).join(', ')}, in any case.`,
});

export const complianceReport = defineOperation({
  name: 'compliance_report',
  summary: 'Make a compliance report',
  description:
    'Reports on a window of the audit log for a framework: for each control what was enforced, with the policies of the time, the evidence counted from the journal, and the gaps. Deterministic: the same journal, window and policies give the same report.',
  http: { method: 'POST', path: '/v1/dashboard/compliance/report' },
  permission: 'compliance:report',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    framework: frameworkSchema,
    since: Type.Optional({
      ...time,
      description: 'The beginning: ISO 8601, or a duration before `until` (`90d`).',
    }),
    until: Type.Optional({
      ...time,
      description: 'The end, exclusive: ISO 8601, or a duration before now. Default: now.',
    }),
    last: Type.Optional({
      ...time,
      description: 'A duration before now, instead of `since` and `until`. Default `24h`.',
    }),
    tenant_id: Type.Optional({ ...name, description: 'One tenant; without it all that the user sees.' }),
    format: Type.Optional(Type.Enum(['json', 'html', 'markdown'], { description: 'Default `json`.' })),
  }),
  output: Type.Object(reportProperties),
  example: { framework: 'hipaa', last: '90d', format: 'json' },
  answer: null,
  refusals: ['invalid_request'],
  async run(input, context) {
    const framework = requireFramework(input.framework);
    const window = resolveReportWindow(input, context);
    const { buildComplianceReport } = await import('./report.ts');
    const report = await buildComplianceReport(
      { ...window, framework: loadFramework(framework) },
      context.runtime,
    );
    const { format = 'json' } = input;
    if (format === 'json') return { format, ...report };
    const { generated_at, window: times } = report;
    return {
      format,
      framework,
      generated_at,
      window: times,
      content: renderComplianceReport(report, format),
    };
  },
});

const verifyResult = Type.Enum(['effective', 'ineffective', 'not_configured', 'not_tested']);

export const complianceVerify = defineOperation({
  name: 'compliance_verify',
  summary: 'Run the compliance self-test',
  description:
    'Sends synthetic data through the enforcement of this service and reports for each control whether it is effective. The events are marked as a self-test: they count in no report, chart or budget. No approval is requested.',
  http: { method: 'POST', path: '/v1/dashboard/compliance/verify' },
  permission: 'compliance:verify',
  tenants: 'all',
  needs: 'policy',
  input: Type.Object({
    framework: Type.Optional({
      ...frameworkSchema,
      description: `${frameworkSchema.description} Default: all.`,
    }),
    tenant_id: Type.Optional({
      ...name,
      description: 'The tenant whose rules are tested; default `default`.',
    }),
  }),
  output: Type.Object({
    effective: Type.Boolean({ description: '`true` if every tested control is effective.' }),
    policy_hash: Type.String(),
    probes: Type.Array(
      Type.Object({
        probe: Type.String(),
        event_id: Type.Nullable(Type.String()),
        result: Type.Enum(['enforced', 'recorded', 'failed', 'not_configured']),
        detail: Type.String(),
      }),
    ),
    controls: Type.Array(
      Type.Object({
        framework: Type.String(),
        control_id: Type.String(),
        title: Type.String(),
        result: verifyResult,
        details: Type.Array(Type.String()),
      }),
    ),
    counts: Type.Object({
      effective: Type.Integer(),
      ineffective: Type.Integer(),
      not_configured: Type.Integer(),
      not_tested: Type.Integer(),
    }),
  }),
  example: { framework: 'owasp-llm' },
  answer: null,
  refusals: ['invalid_request'],
  async run(input, context) {
    const frameworks = input.framework === undefined ? FRAMEWORK_IDS : [requireFramework(input.framework)];
    const tenantId = dropBlankName(input.tenant_id) ?? 'default';
    return runSelfTest(frameworks.map(loadFramework), tenantId, context);
  },
});

/** Returns the id of a framework. @throws Refusal that lists all of them */
export function requireFramework(written: string): FrameworkId {
  const id = findFrameworkId(written);
  if (id !== null) return id;
  const message = `is one of ${FRAMEWORK_IDS.join(', ')}`;
  throw new Refusal('invalid_request', `\`framework\` ${message}.`, [{ path: 'framework', message }]);
}
