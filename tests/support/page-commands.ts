/** Reads a page's commands, with the output that it shows below them. */
import type { Block } from './pages.ts';

export interface PageCommand {
  readonly command: string;
  /** `null` if the page shows no output. */
  readonly shown: string | null;
  readonly line: number;
}

/** Returns a block's commands. One may continue after a `\`, in an open quote or in a loop. */
export function listCommands({ language, text, line }: Block): PageCommand[] {
  if (language === 'sh') return splitScript(text).map((command) => ({ command, shown: null, line }));
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      const shown = end === -1 ? '' : part.slice(end + 1).trimEnd();
      const command = (end === -1 ? part : part.slice(0, end)).replace(/ +#.*$/, '').trim();
      return { command, shown: shown === '' ? null : shown, line };
    });
}

function splitScript(text: string): string[] {
  const commands: string[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    open = open === '' ? line : `${open}\n${line}`;
    const quotes = open.replaceAll(/'"'"'/g, '').split("'").length - 1;
    const loops = [...open.matchAll(/\b(?:for|done)\b/g)].length;
    if (open.endsWith('\\') || quotes % 2 === 1 || loops % 2 === 1) continue;
    const command = open
      .replaceAll('\\\n', '')
      .replace(/ {2,}#.*$/, '')
      .trim();
    if (command !== '' && !command.startsWith('#')) commands.push(command);
    open = '';
  }
  return commands;
}
