import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandFailure, EXIT } from './command-failure.ts';
import { runSelectedOperation } from './run-operation.ts';
import { printNotice, type Terminal } from './terminal.ts';

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
): Promise<void> {
  const { framework, since, until, tenant, format, output, config } = options;
  if (format === 'pdf' && output === undefined)
    throw new CommandFailure(EXIT.usage, 'usage', 'A PDF is written to a file.', {
      hint: 'Name it with --output report.pdf.',
    });
  const answer = await runSelectedOperation(terminal, config, (of) => of.complianceReport, {
    framework,
    since,
    ...(until !== undefined && { until }),
    ...(tenant !== undefined && { tenant_id: tenant }),
    format: format === 'pdf' ? 'html' : format,
  });
  const text = formatAnswer(answer as Answer);
  if (output === undefined) {
    terminal.stdout.write(text);
    return;
  }
  await writeFile(resolve(terminal.cwd, output), text);
  printNotice(terminal, `The report is in ${output}.`);
}

interface Answer {
  readonly format: 'json' | 'html' | 'markdown';
  readonly content?: string;
}

/** Returns the text of an answer: the rendered report, or its JSON without the member `format`. */
function formatAnswer({ format, content, ...report }: Answer): string {
  return format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : (content ?? '');
}
