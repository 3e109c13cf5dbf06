import { renderHtml } from './render-html.ts';
import { renderMarkdown } from './render-markdown.ts';
import type { ComplianceReport } from './report-types.ts';

/** The formats of a report. A PDF is printed from the HTML. */
export const REPORT_FORMATS = ['json', 'html', 'markdown'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Renders a report as text that ends with a line break. The same report gives the same text. */
export function renderComplianceReport(report: ComplianceReport, format: ReportFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(report, null, 2)}\n`;
    case 'html':
      return renderHtml(report);
    case 'markdown':
      return renderMarkdown(report);
  }
}
