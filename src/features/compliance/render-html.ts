import { renderMarkdown } from './render-markdown.ts';
import type { ComplianceReport } from './report-types.ts';

/** Renders a report as one HTML file without scripts, for a screen and for paper. */
export function renderHtml(report: ComplianceReport): string {
  return `<!doctype html><pre>${renderMarkdown(report).replace(/&/g, '&amp;').replace(/</g, '&lt;')}</pre>\n`;
}
