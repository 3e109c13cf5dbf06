import { Argument, type Command } from 'commander';
import { addExamples } from '../../../operations/cli-kit/options.ts';
import type { Terminal } from '../../../operations/cli-kit/terminal.ts';
import type { CommandWords } from '../completion/words.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function defineCompletion(command: Command, terminal: Terminal): void {
  command
    .description(
      'Print a completion script for `customshouse`, and in bash for `./service` too. The script is static. Regenerate it after each upgrade.',
    )
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .action(async (shell: Shell) => {
      terminal.stdout.write(await writeCompletionScript(shell, command.parent ?? command));
    });
  addExamples(command, [
    ['source <(customshouse completion bash)', 'in ~/.bashrc'],
    ['source <(customshouse completion zsh)', 'in ~/.zshrc, after compinit'],
    ['customshouse completion fish > ~/.config/fish/completions/customshouse.fish', ''],
  ]);
}

const WRITERS: Readonly<Record<Shell, () => Promise<(all: readonly CommandWords[]) => string>>> = {
  bash: async () => (await import('../completion/bash.ts')).writeBashCompletion,
  zsh: async () => (await import('../completion/zsh.ts')).writeZshCompletion,
  fish: async () => (await import('../completion/fish.ts')).writeFishCompletion,
};

/** Walks the whole program, so `program.ts` defines every command when this one runs. */
async function writeCompletionScript(shell: Shell, program: Command): Promise<string> {
  const { listCommandWords } = await import('../completion/words.ts');
  return (await WRITERS[shell]())(listCommandWords(program));
}
