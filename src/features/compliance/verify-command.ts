import type { Static } from 'typebox';
import { callOperation } from '../../operations/call.ts';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { EXIT } from '../../operations/cli-kit/command-failure.ts';
import { formatTable } from '../../operations/cli-kit/format-table.ts';
import {
  paintText,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../operations/cli-kit/terminal.ts';
import { buildOperatorCaller } from '../../runtime/access/callers.ts';
import { getOsUserName } from '../../runtime/access/os-user.ts';
import { complianceVerify } from './operations.ts';

/** The options of `compliance verify`. */
export interface ComplianceVerifyOptions {
  readonly framework?: string;
  readonly tenant?: string;
  readonly json?: true;
  readonly config?: string;
}

/** Runs the self-test in the running service, or in this process, and ends with 1 if a control is ineffective. */
export async function verifyCompliance(
  options: ComplianceVerifyOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  const answer = await runSelfTest(options, terminal, ports);
  if (!answer.effective) terminal.exit_code = EXIT.no;
  if (options.json) return printJson(terminal, answer);
  const WORDS = {
    effective: 'effective',
    ineffective: 'INEFFECTIVE',
    not_configured: 'not configured',
    not_tested: 'not tested',
  };
  const rows = answer.controls.map((each) => [
    each.framework,
    each.control_id,
    each.title,
    WORDS[each.result],
  ]);
  for (const line of formatTable(['FRAMEWORK', 'CONTROL', 'SUBJECT', 'RESULT'], rows))
    printLine(terminal, line);
  const failed = answer.controls.filter(({ result }) => result === 'ineffective');
  if (failed.length > 0) printLine(terminal);
  for (const { framework, control_id, details } of failed) {
    printLine(terminal, paintText(terminal, 'bold', `${framework} ${control_id}`));
    for (const detail of details) printLine(terminal, `  ${detail}`);
  }
  const { counts } = answer;
  printLine(terminal);
  printLine(
    terminal,
    `Controls: ${counts.effective} effective, ${counts.ineffective} ineffective, ${counts.not_configured} not configured, ${counts.not_tested} not tested.`,
  );
}

async function runSelfTest(
  { framework, tenant, config: configPath }: ComplianceVerifyOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<Static<typeof complianceVerify.output>> {
  const input = {
    ...(framework !== undefined && { framework }),
    ...(tenant !== undefined && { tenant_id: tenant }),
  };
  const config = await ports.loadConfig(terminal, configPath, 'decide');
  const answer = await ports.callService(config, complianceVerify, input);
  if (answer !== null) return answer;
  printNotice(
    terminal,
    'No service runs here: the policy is tested in this process, and nothing is recorded.',
  );
  const unrecorded = { ...config, audit: { ...config.audit, enabled: false } };
  const runtime = await ports.openRuntime(unrecorded);
  const caller = buildOperatorCaller(`cli:${getOsUserName()}`);
  try {
    const context = { runtime, caller, request_id: 'cli' };
    return await callOperation(complianceVerify, input, context);
  } finally {
    await runtime.close();
  }
}
