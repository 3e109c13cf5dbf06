import type { Command } from 'commander';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../operations/cli-kit/options.ts';
import { printVerdict } from '../../operations/cli-kit/print-verdict.ts';
import { escapeControls, printJson, printLine, type Terminal } from '../../operations/cli-kit/terminal.ts';
import { actionTry } from './try-operation.ts';

interface CheckOptions {
  readonly tool: string;
  readonly command?: string;
  readonly input?: string;
  readonly agent?: string;
  readonly tenant?: string;
  readonly config?: string;
  readonly json?: true;
}

/** Defines `check`. */
export function defineCheck(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command
    .description(
      'Decide on a tool call without making it, and record the decision without the arguments. No approval is requested. Ends with 1 if the decision is `block`. Other users of this machine can see a command line, so leave secrets out.',
    )
    .requiredOption('--tool <name>', 'the tool, as the agent names it')
    .option('--command <line>', 'the command line of a shell tool, short for --input with `command`')
    .option('--input <json>', 'the arguments, a JSON object')
    .option('--agent <id>', 'the agent that would call (default: `cli`)')
    .option('--tenant <id>', 'tenant whose rules apply')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: CheckOptions) => checkCall(options, terminal, ports));
  addExamples(command, [
    ["customshouse check --tool Bash --command 'git push --force origin main'", 'blocked'],
    [`customshouse check --tool send_email --input '{"to": "team@example.com"}' --agent support-bot`, ''],
  ]);
}

async function checkCall(options: CheckOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const { tool, agent, tenant } = options;
  const input = {
    tool,
    input: readArguments(options),
    agent_id: agent ?? 'cli',
    ...(tenant !== undefined && { tenant_id: tenant }),
  };
  const reply = await ports.runOperation(terminal, options.config, actionTry, input);
  if (options.json) printJson(terminal, reply);
  else {
    printVerdict(reply, terminal);
    for (const effect of reply.effects) printLine(terminal, escapeControls(effect));
  }
  if (reply.decision === 'block') terminal.exit_code = EXIT.no;
}

function readArguments({ command, input }: CheckOptions): object {
  if (command !== undefined && input !== undefined)
    throw new CommandFailure(EXIT.usage, 'usage', 'Give --command or --input, not both.');
  if (input === undefined) return command === undefined ? {} : { command };
  const value = parseObject(input);
  if (value === null)
    throw new CommandFailure(EXIT.usage, 'invalid_request', '--input is not a JSON object.', {
      hint: `Write it as '{"command": "ls"}'.`,
    });
  return value;
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    // The parser's message repeats some text.
    return null;
  }
}
