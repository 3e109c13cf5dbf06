import { type Command, Option } from 'commander';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../operations/cli-kit/options.ts';
import type { Terminal } from '../../operations/cli-kit/terminal.ts';
import { type ComplianceReportOptions, writeComplianceReport } from './report-command.ts';
import { type ComplianceVerifyOptions, verifyCompliance } from './verify-command.ts';

/** Defines `compliance`. */
export function defineCompliance(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command.description(
    'Report for a compliance framework what was enforced in a window of the audit log, with evidence and gaps.',
  );
  defineReport(command, terminal, ports);
  defineVerify(command, terminal, ports);
  addExamples(command, [
    ['customshouse compliance report --framework hipaa --since 90d', 'as JSON'],
    ['customshouse compliance report --framework soc2 --format html --output soc2.html', 'for a browser'],
    ['customshouse compliance verify --framework soc2', 'whether the controls are effective now'],
  ]);
}

function defineReport(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const report = command
    .command('report')
    .summary('write a report on a window of the audit log')
    .description(
      'Write a report: for each control of the framework what was enforced, the evidence counted from the journal, and the gaps. The same journal, window and policies give the same report. Works with and without a running service.',
    )
    .requiredOption('--framework <name>', 'the framework, in any case; a wrong name lists all of them')
    .option('--since <time>', 'the beginning: ISO 8601, or a duration before the end', '90d')
    .option('--until <time>', 'the end, exclusive: ISO 8601, or a duration before now (default: now)')
    .option('--tenant <id>', 'one tenant (default: all)')
    .addOption(
      new Option('--format <format>', 'how to write it')
        .choices(['json', 'html', 'pdf', 'markdown'])
        .default('json'),
    )
    .option('--output <file>', 'the file to write (default: standard output; a PDF needs a file)')
    .addOption(buildConfigOption())
    .action((options: ComplianceReportOptions) => writeComplianceReport(options, terminal, ports));
  addExamples(report, [
    ['customshouse compliance report --framework hipaa --since 90d', 'as JSON'],
    ['customshouse compliance report --framework gdpr --format markdown', 'to read in a terminal'],
    [
      'customshouse compliance report --framework pci-dss --since 2026-07-01 --until 2026-10-01',
      'one quarter',
    ],
    ['customshouse compliance report --framework soc2 --format pdf --output soc2.pdf', 'to print'],
  ]);
}

function defineVerify(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const verify = command
    .command('verify')
    .summary('test the controls with synthetic data')
    .description(
      'Send synthetic data through the running service, and show for each control whether it is effective. Without a service the policy is tested in this process. The events are marked and count in no report. Ends with 1 if a control is ineffective.',
    )
    .option('--framework <name>', 'one framework (default: all)')
    .option('--tenant <id>', 'the tenant whose rules are tested (default: default)')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: ComplianceVerifyOptions) => verifyCompliance(options, terminal, ports));
  addExamples(verify, [
    ['customshouse compliance verify', 'all frameworks'],
    ['customshouse compliance verify --framework owasp-agentic --json', 'for a program'],
  ]);
}
