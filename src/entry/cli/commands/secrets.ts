import type { Command } from 'commander';
import { ask } from '../ask.ts';
import { EXIT } from '../exit.ts';
import { configOption, examples, jsonOption } from '../options.ts';
import { say, sayJson, shown, type Terminal } from '../terminal.ts';

export function secrets(command: Command, terminal: Terminal): void {
  command.description('Check the secret backend. No command prints the value of a secret.');
  const check = command
    .command('check')
    .summary('check whether the running service reaches its secrets')
    .description(
      'Check whether the running service reaches its secret backend and can read the named secrets. Ends with 1 if a check fails. Each requested name is recorded in the audit log.',
    )
    .argument('[names...]', 'names of secrets')
    .addOption(configOption())
    .addOption(jsonOption())
    .action((names: readonly string[], options: CheckOptions) => checkSecrets(names, options, terminal));
  examples(check, [
    ['service secrets check', 'is the backend there'],
    ['service secrets check MAIL_PASSWORD db/prod#password', 'can these be read'],
  ]);
  examples(command, [['service secrets check MAIL_PASSWORD', '']]);
}

interface CheckOptions {
  readonly config?: string;
  readonly json?: true;
}

interface Checked {
  readonly backend: string;
  readonly reachable: boolean;
  readonly reason?: string;
  readonly secrets: readonly {
    readonly secret_key: string;
    readonly result: string;
    readonly reason?: string;
  }[];
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
): Promise<void> {
  const reply = (await ask(terminal, options.config, (of) => of.secretsCheck, {
    secret_keys: names,
  })) as Checked;
  const is_well = reply.reachable && reply.secrets.every(({ result }) => result === 'allow');
  if (!is_well) terminal.exit_code = EXIT.no;
  if (options.json) {
    sayJson(terminal, reply);
    return;
  }
  const state = reply.reachable ? 'can be reached' : 'cannot be used';
  say(
    terminal,
    `The backend ${reply.backend} ${state}.${reply.reason === undefined ? '' : ` ${shown(reply.reason)}`}`,
  );
  for (const { secret_key, result, reason } of reply.secrets)
    say(
      terminal,
      `${shown(secret_key)}  ${WORDS[result]}${reason === undefined ? '' : `: ${shown(reason)}`}`,
    );
}
