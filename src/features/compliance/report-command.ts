import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Static } from 'typebox';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { printNotice, type Terminal } from '../../operations/cli-kit/terminal.ts';
import { complianceReport } from './operations.ts';
import { findChromium, printPdf } from './print-pdf.ts';

/** The options of `compliance report`. */
export interface ComplianceReportOptions {
  readonly framework: string;
  readonly since: string;
  readonly until?: string;
  readonly tenant?: string;
  readonly format: 'json' | 'html' | 'pdf' | 'markdown';
  readonly output?: string;
  readonly config?: string;
}

/** Makes a report and writes it to standard output or to a file. */
export async function writeComplianceReport(
  options: ComplianceReportOptions,
  terminal: Terminal,
  { runOperation }: CommandPorts,
): Promise<void> {
  const { framework, since, until, tenant, format, output, config } = options;
  if (format === 'pdf' && output === undefined)
    throw new CommandFailure(EXIT.usage, 'usage', 'A PDF is written to a file.', {
      hint: 'Name it with --output report.pdf.',
    });
  const answer = await runOperation(terminal, config, complianceReport, {
    framework,
    since,
    ...(until !== undefined && { until }),
    ...(tenant !== undefined && { tenant_id: tenant }),
    format: format === 'pdf' ? 'html' : format,
  });
  const text = formatAnswer(answer);
  if (output === undefined) {
    terminal.stdout.write(text);
    return;
  }
  if (format === 'pdf') return writePdf(text, output, terminal);
  await writeFile(resolve(terminal.cwd, output), text);
  printNotice(terminal, `The report is in ${output}.`);
}

/** Prints a PDF with Chromium. Without one, or if it fails, writes the HTML next to the named file and says so. */
async function writePdf(html: string, output: string, terminal: Terminal): Promise<void> {
  const browser = await findChromium(terminal.env);
  const target = resolve(terminal.cwd, output);
  const isPrinted =
    browser !== null &&
    (await printPdf(browser, html, target).then(
      () => true,
      () => false,
    ));
  if (isPrinted) return printNotice(terminal, `The report is in ${output}.`);
  const page = `${output.replace(/\.pdf$/i, '')}.html`;
  await writeFile(resolve(terminal.cwd, page), html);
  const why = browser === null ? 'No Chromium was found' : `${browser} could not print the report`;
  printNotice(terminal, `${why}, so the report is in ${page}: open it in a browser and print it to a PDF.`);
}

/** Returns the text of an answer: the rendered report, or its JSON without the member `format`. */
function formatAnswer({ format, content, ...report }: Static<typeof complianceReport.output>): string {
  return format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : (content ?? '');
}
