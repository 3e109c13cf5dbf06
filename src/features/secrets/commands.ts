import type { Command } from 'commander';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { EXIT } from '../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../operations/cli-kit/options.ts';
import { escapeControls, printJson, printLine, type Terminal } from '../../operations/cli-kit/terminal.ts';
import { secretsCheck } from './operations.ts';

/** Defines `secrets`. */
export function defineSecrets(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command.description('Check the secret backend. No command prints the value of a secret.');
  const check = command
    .command('check')
    .summary('check whether the running service reaches its secrets')
    .description(
      'Check whether the running service reaches its secret backend and can read the named secrets. Ends with 1 if a check fails. Each requested name is recorded in the audit log.',
    )
    .argument('[names...]', 'names of secrets')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((names: readonly string[], options: CheckOptions) =>
      checkSecrets(names, options, terminal, ports),
    );
  addExamples(check, [
    ['customshouse secrets check', 'the backend'],
    ['customshouse secrets check MAIL_PASSWORD db/prod#password', 'two secrets'],
  ]);
  addExamples(command, [['customshouse secrets check MAIL_PASSWORD', '']]);
}

interface CheckOptions {
  readonly config?: string;
  readonly json?: true;
}

const WORDS: Readonly<Record<string, string>> = {
  allow: 'can be read',
  missing: 'is not there',
  error: 'cannot be read',
};

async function checkSecrets(
  names: readonly string[],
  options: CheckOptions,
  terminal: Terminal,
  { runOperation }: CommandPorts,
): Promise<void> {
  const reply = await runOperation(terminal, options.config, secretsCheck, {
    secret_keys: names,
  });
  const isWell = reply.reachable && reply.secrets.every(({ result }) => result === 'allow');
  if (!isWell) terminal.exit_code = EXIT.no;
  if (options.json) {
    printJson(terminal, reply);
    return;
  }
  const state = reply.reachable ? 'can be reached' : 'cannot be used';
  printLine(
    terminal,
    `The backend ${reply.backend} ${state}.${reply.reason === undefined ? '' : ` ${escapeControls(reply.reason)}`}`,
  );
  for (const { secret_key, result, reason } of reply.secrets)
    printLine(
      terminal,
      `${escapeControls(secret_key)}  ${WORDS[result]}${reason === undefined ? '' : `: ${escapeControls(reason)}`}`,
    );
}
