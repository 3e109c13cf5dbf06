import { defineOperation, Refusal } from '../../operations/operation.ts';
import { name } from '../../operations/shapes.ts';
import { findFrameworkId } from './frameworks.ts';
import { FRAMEWORK_IDS, type FrameworkId } from './mapping-types.ts';
import { reportProperties } from './report-schema.ts';
import { resolveReportWindow } from './window.ts';

const time = { ...name, maxLength: 40 } as const;

const frameworkSchema = {
  type: 'string',
  maxLength: 64,
  description: `One of ${FRAMEWORK_IDS.map((id) => `\`${id}\``).join(', ')}, in any case.`,
} as const;

export const complianceReport = defineOperation({
  name: 'compliance_report',
  summary: 'Make a compliance report',
  description:
    'Reports on a window of the audit log for a framework: for each control what was enforced, with the policies of the time, the evidence counted from the journal, and the gaps. Deterministic: the same journal, window and policies give the same report.',
  http: { method: 'POST', path: '/v1/dashboard/compliance/report' },
  permission: 'compliance:report',
  for_users: true,
  needs: 'journal',
  input: {
    type: 'object',
    required: ['framework'],
    properties: {
      framework: frameworkSchema,
      since: { ...time, description: 'The beginning: ISO 8601, or a duration before `until` (`90d`).' },
      until: {
        ...time,
        description: 'The end, exclusive: ISO 8601, or a duration before now. Default: now.',
      },
      last: { ...time, description: 'A duration before now, instead of `since` and `until`. Default `24h`.' },
      tenant_id: { ...name, description: 'One tenant; without it all that the user sees.' },
      format: { enum: ['json', 'html', 'markdown'], description: 'Default `json`.' },
    },
  },
  output: {
    type: 'object',
    required: ['format', 'framework', 'generated_at', 'window'],
    properties: reportProperties,
  },
  example: { framework: 'hipaa', last: '90d', format: 'json' },
  answer: null,
  refusals: ['invalid_request'],
  async run(input, context) {
    const framework = requireFramework(input.framework);
    const window = resolveReportWindow(input, context);
    const [{ buildComplianceReport }, { renderComplianceReport }, { loadFramework }] = await Promise.all([
      import('./report.ts'),
      import('./render.ts'),
      import('./frameworks.ts'),
    ]);
    const report = await buildComplianceReport(
      { ...window, framework: loadFramework(framework) },
      context.runtime,
    );
    const { format = 'json' } = input;
    if (format === 'json') return { format, ...report } as never;
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

/** Returns the id of a framework. @throws Refusal that lists all of them */
export function requireFramework(written: string): FrameworkId {
  const id = findFrameworkId(written);
  if (id !== null) return id;
  const message = `is one of ${FRAMEWORK_IDS.join(', ')}`;
  throw new Refusal('invalid_request', `\`framework\` ${message}.`, [{ path: 'framework', message }]);
}
