import type { ReportFile } from '../features/evidence/build-pack.ts';
import type { ReportRequest } from '../features/evidence/task-operations.ts';
import type { Runtime } from '../operations/runtime.ts';

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
      import('../features/compliance/operations.ts'),
      import('../features/compliance/frameworks.ts'),
      import('../features/compliance/report.ts'),
      import('../features/compliance/render.ts'),
    ]);
  const mapping = loadFramework(requireFramework(framework));
  const window = { since_ms, until_ms, tenants, agents: '*', last: null } as const;
  const report = await buildComplianceReport({ ...window, framework: mapping }, source);
  return [
    { path: 'report/report.json', content: renderComplianceReport(report, 'json') },
    { path: 'report/report.html', content: renderComplianceReport(report, 'html') },
  ];
}
