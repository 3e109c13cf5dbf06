import type { Runtime } from '../../operations/runtime.ts';
import type { ReportFile } from './build-pack.ts';
import type { ReportRequest } from './job-operations.ts';

/**
 * Builds the compliance report of a window as the files of an evidence pack. Loaded on demand.
 *
 * @throws Refusal if there is no such framework
 */
export async function buildReportFiles(
  { framework, since_ms, until_ms, tenants }: ReportRequest,
  source: Pick<Runtime, 'auditWindow' | 'queryAudit' | 'policyOf'>,
): Promise<readonly ReportFile[]> {
  const [{ requireFramework }, { loadFramework }, { buildComplianceReport }, { renderComplianceReport }] =
    await Promise.all([
      import('../compliance/operations.ts'),
      import('../compliance/frameworks.ts'),
      import('../compliance/report.ts'),
      import('../compliance/render.ts'),
    ]);
  const mapping = loadFramework(requireFramework(framework));
  const window = { since_ms, until_ms, tenants, agents: '*', last: null } as const;
  const report = await buildComplianceReport({ ...window, framework: mapping }, source);
  return [
    { path: 'report/report.json', content: renderComplianceReport(report, 'json') },
    { path: 'report/report.html', content: renderComplianceReport(report, 'html') },
  ];
}
