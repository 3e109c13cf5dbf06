import { join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandFailure, EXIT } from '../exit.ts';

/**
 * How hosts are to start this program: absolute paths, as it was started now. A checkout is started by its `service`.
 * @throws CommandFailure where the program is in a place that will be cleared
 */
export function programWords(
  here = fileURLToPath(import.meta.url),
  started_as = process.argv[1] ?? '',
): readonly string[] {
  if (here.endsWith('.ts')) return [join(here, '../../../../../service')];
  const script = resolve(started_as);
  if ([script, here].some((path) => path.includes(`${sep}_npx${sep}`)))
    throw new CommandFailure(
      EXIT.usage,
      'not_installed',
      'npx keeps this program in a cache that it clears, and a host takes a hook that is gone for a yes.',
      { hint: 'Install it first: `npm install --global agent-safety`.' },
    );
  // Run by its file, it may not be executable.
  return script.endsWith('.js') ? [process.execPath, script] : [script];
}
