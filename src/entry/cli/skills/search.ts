import { formatTable } from '../../../operations/cli-kit/format-table.ts';
import { printJson, printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';

export interface SearchOptions {
  readonly registry?: 'npm';
  readonly json?: true;
}

interface SearchHit {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  readonly description: string;
}

/** Lists the skills that match all words. With `templates`, lists only skills that contain nothing but policies. */
export async function searchSkills(
  words: readonly string[],
  options: SearchOptions,
  what: 'skills' | 'templates',
  terminal: Terminal,
): Promise<void> {
  const { openBundledSkills, isTemplate, searchNpm } = await import('../../../runtime/skills/index.ts');
  const lower = words.map((word) => word.toLowerCase());
  const bundled: SearchHit[] = (await openBundledSkills())
    .filter((skill) => what === 'skills' || isTemplate(skill))
    .filter(({ name, description, keywords }) => {
      const text = [name, description, ...keywords].join('\n').toLowerCase();
      return lower.every((word) => text.includes(word));
    })
    .map(({ name, version, source, description }) => ({ name, version, source, description }));
  const place = { cwd: terminal.cwd, env: terminal.env };
  const elsewhere: SearchHit[] =
    options.registry === undefined
      ? []
      : (await searchNpm(words, place)).map((each) => ({ ...each, source: `npm:${each.name}` }));
  const found = [...bundled, ...elsewhere];
  if (options.json) printJson(terminal, { count: found.length, [what]: found });
  else if (found.length === 0) printLine(terminal, `There are no ${what} with these words.`);
  else {
    const rows = found.map(({ name, version, source, description }) => [name, version, source, description]);
    for (const line of formatTable(['NAME', 'VERSION', 'SOURCE', 'ABOUT'], rows)) printLine(terminal, line);
  }
}
