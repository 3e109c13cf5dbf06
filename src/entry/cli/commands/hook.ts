import { type Command, Option } from 'commander';
import { TIMEOUT_MS_MAX, TIMEOUT_MS_MIN } from '../../../coding-agents/hook-options.ts';
import { dialects } from '../../../coding-agents/index.ts';
import { addExamples, buildConfigOption, parseWholeNumber } from '../../../operations/cli-kit/options.ts';
import type { Terminal } from '../../../operations/cli-kit/terminal.ts';

/**
 * Defines `hook` for the help only. The hook runs without this command line, because parsing one takes as long as a
 * decision. The action runs only if the hook was called in another form.
 */
export function defineHook(command: Command, terminal: Terminal): void {
  command
    .description(
      'Decide on one action of a coding agent. Reads its event as JSON from standard input and writes the decision in the form that the agent understands. Fails closed: any error denies the tool call. docs/reference/hook.md has the details of each agent.',
    )
    .addOption(
      new Option('--dialect <name>', 'coding agent that calls (default: detected from the event)').choices(
        dialects.map(({ name }) => name),
      ),
    )
    .option('--event <name>', 'name of the event, if the agent does not send it')
    .option('--agent <id>', 'agent of the decisions (default: the name of the dialect)')
    .option('--tenant <id>', 'tenant whose rules apply')
    .option(
      '--timeout-ms <ms>',
      'deny if there is no decision after this many milliseconds (default: 8000)',
      parseWholeNumber(TIMEOUT_MS_MIN, TIMEOUT_MS_MAX),
    )
    .option('--exit-code', 'end with 1 if the decision is a denial')
    .option('--daemon', 'run as a daemon that serves hooks and the command line, and stop when idle')
    .addOption(buildConfigOption())
    .action(async (_options, { args }: Command) => {
      const { runHook } = await import('../../hook/run-hook.ts');
      const { env, cwd, stdin, stdout, stderr } = terminal;
      const write = (fd: 1 | 2, text: string): void => void (fd === 1 ? stdout : stderr).write(text);
      const exit = (code: 0 | 1 | 2): void => {
        terminal.exit_code = code;
      };
      await runHook({ args: [...getWords(command), ...args], env, cwd, stdin, write, exit });
    });
  addExamples(command, [
    [`echo '{"tool":"Bash","input":{"command":"rm -rf /"}}' | customshouse hook`, 'the plain protocol'],
    [
      'customshouse hook --dialect claude-code --config /etc/service.yaml',
      'the command that a coding agent runs',
    ],
    ['customshouse hook --exit-code < action.json', 'for a script'],
  ]);
}

/** Returns the given options as words of a command line, without defaults. */
function getWords(command: Command): string[] {
  return command.options.flatMap((option) => {
    const value = command.getOptionValue(option.attributeName());
    if (value === undefined || command.getOptionValueSource(option.attributeName()) === 'default') return [];
    return value === true ? [option.long!] : [option.long!, String(value)];
  });
}
