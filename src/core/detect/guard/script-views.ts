import type { Command } from '../shell/syntax.ts';
import { findEnteredFolder, findNamedFolder } from './path-access.ts';
import { enterFolder, type GuardView } from './paths.ts';

/** The most changes of folder in one script that are followed; after them the folder is unknown. */
const CHANGES_MAX = 8;

/**
 * Returns the views that each command of a script has of guarded paths: `cd` changes those of later commands. A
 * folder that a subshell or a quoted script enters may or may not apply to a command, so there are several views
 * then. So it is with a folder that an option names (`env -C`, `git -C`).
 */
export function listScriptViews(
  commands: readonly Command[],
  text: string,
  view: GuardView,
): (command: Command) => readonly GuardView[] {
  const entered = listEnteredViews(commands, text, view);
  const named = commands
    .map((command) => ({ command, target: findNamedFolder(command) }))
    .filter(({ target }) => target !== undefined)
    .slice(0, CHANGES_MAX);
  if (named.length === 0) return entered;
  return (command) => {
    const views = entered(command);
    const around = named.filter(
      (each) => each.command.start <= command.start && command.end <= each.command.end,
    );
    return [
      ...views,
      ...around.flatMap(({ target }) => views.map((each) => enterFolder(each, target ?? null))),
    ];
  };
}

function listEnteredViews(
  commands: readonly Command[],
  text: string,
  view: GuardView,
): (command: Command) => readonly GuardView[] {
  const changes = commands.flatMap((command) => {
    const target = findEnteredFolder(command);
    return target === undefined ? [] : [{ command, target }];
  });
  const initial = [view];
  if (changes.length === 0) return () => initial;
  if (changes.length > CHANGES_MAX) {
    const unknown = [enterFolder(view, null)];
    return () => unknown;
  }
  changes.sort((a, b) => a.command.start - b.command.start);
  const isNested = text.includes('(');
  const views = [view];
  for (const { target } of changes) views.push(enterFolder(views.at(-1)!, target));
  return ({ start, end, depth }) => {
    const before = changes.filter(({ command }) => command.end <= start && command.start < start).length;
    const around = isNested ? views.slice(0, before + 1) : [views[before]!];
    const inside = changes.filter(
      ({ command }) => depth > 0 && command.start === start && command.end === end,
    );
    return [...around, ...inside.map(({ target }) => enterFolder(views[before]!, target))];
  };
}
