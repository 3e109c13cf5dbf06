import { parseScript, type Shared } from './parse.ts';
import { type Command, type Dialect, type Reading, type Script, SHELL_LIMITS } from './syntax.ts';
import { unwrap } from './unwrap.ts';

const WINDOWS =
  /(?:^|[\s"'(;|&])(?:[A-Za-z]:\\|\\\\[\w.]+\\|%\w+%|(?:HKLM|HKCU|HKCR|HKEY_[A-Z_]+)[:\\]|\$env:|\$PS|\$_\b|\[[A-Z][\w.]{2,40}\]|(?:powershell|pwsh|cmd|reg|wmic|net|sc|certutil|schtasks|vssadmin|wevtutil|bcdedit|netsh|rundll32|regsvr32|mshta|bitsadmin|icacls|attrib|del|rd|erase|format|diskpart|iex|iwr|irm)(?:\.exe)?[ \t(]|[A-Za-z]:[ \t]*$|(?:Get|Set|New|Remove|Add|Clear|Invoke|Start|Stop|Import|Export|Install|Uninstall|Enable|Disable|Out|Write|Test|Select|Where|ForEach|Move|Copy|Rename|Format|Initialize|Restart|Register|Unregister|Expand|Compress|ConvertTo|ConvertFrom|Read|Restore|Suspend|Update|Connect|Find)-[A-Z][A-Za-z]{2})/i;

/** Which dialect a text is in: that of Windows where a path, a variable or a command of it shows. */
export function dialectOf(text: string): Dialect {
  return WINDOWS.test(text) ? 'windows' : 'posix';
}

/**
 * All commands that a script would run, with those inside wrappers, quoted scripts and substitutions. `offset` is
 * where the script begins in the text that the spans are to count in. Never throws; past a limit `is_cut` is set.
 */
export function readCommands(text: string, offset = 0): Reading {
  const { script_units_max, work_factor_max, commands_max, depth_max } = SHELL_LIMITS;
  const head = text.slice(0, script_units_max);
  const shared: Shared = { variables: new Map(), filling: head.length + 4096 };
  let is_cut = head.length < text.length;
  let units_left = head.length * work_factor_max + 4096;
  const commands: Command[] = [];
  const scripts: Script[] = [
    { text: head, place: { offset }, depth: 0, within: [], previous: null, dialect: dialectOf(head) },
  ];
  for (let script = scripts.pop(); script !== undefined; script = scripts.pop()) {
    units_left -= script.text.length;
    if (units_left < 0 || script.depth > depth_max) {
      is_cut = true;
      continue;
    }
    const parsed = parseScript(script, shared);
    scripts.push(...parsed.scripts.reverse());
    for (const command of parsed.commands) {
      if (commands.length >= commands_max) return { commands, is_cut: true };
      units_left -= addWithInner(command, script.dialect, commands, scripts);
    }
  }
  return { commands, is_cut };
}

/** Adds a command and those that it wraps; the units of words that were copied for them come back. */
function addWithInner(command: Command, dialect: Dialect, commands: Command[], scripts: Script[]): number {
  const open: Command[] = [command];
  let units = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    commands.push(next);
    if (next.depth >= SHELL_LIMITS.depth_max) continue;
    const inner = unwrap(next, dialect);
    open.push(...inner.commands);
    scripts.push(...inner.scripts);
    for (const { words } of inner.commands) units += words.length;
  }
  return units;
}
