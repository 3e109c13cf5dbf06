import { listOperands } from '../../shell/options.ts';
import type { Command } from '../../shell/syntax.ts';
import { callsAttackFunction, namesAttackTool, namesRemoteAccess } from '../attack-tools.ts';
import type { CommandRule } from './rule.ts';

/** Rules for tools whose name says what they are for, wherever the name is: program, argument, address. */
export const attackToolRules: readonly CommandRule[] = [
  {
    id: 'execution.attack_tool',
    tag: 'dangerous.execution',
    severity: 'high',
    programs: '*',
    description:
      'Fetches, starts or loads a tool that is known for attacks, by its name in an argument or an address.',
    safer: 'curl -O https://x.test/tool.tgz',
    saw: (command) =>
      callsAttackFunction(command.name, listOperands(command)) || namesTool(command, namesAttackTool),
    hits: [
      'curl -OL https://github.com/x/xmrig/releases/download/v6/xmrig-6.tar.gz',
      'Start-Process C:\\tools\\Akagi64.exe',
      'Import-Module .\\PowerView.ps1',
      '"C:\\x\\Backstab64.exe" -k -n a',
      '"C:\\x\\31 Akagi64.exe"',
      "cmd /c 'C:\\x\\JuicyPotato.exe' -l 7777",
      'Invoke-ReflectivePEInjection -PEBytes $b',
      'stratus detonate aws.defense-evasion.cloudtrail-stop',
      'sudo bash /opt/mimipenguin/LinEnum.sh',
      'Import-Module C:\\Tools\\SharpUp.dll',
      'C:\\Tools\\Seatbelt.exe -group=all',
    ],
    misses: [
      'curl -O https://x.test/tool.tgz',
      'grep -r mimikatz .',
      'git log --grep xmrig',
      'cat Rubeus.md',
      'npm install whisker',
      'python3 certify_report.py',
      './certify --all',
      'kubectl get pods -n seatbelt',
      'curl https://x.test/villain',
      'Invoke-Build -Task test',
      'stratus list',
      'cargo run --bin chisel',
    ],
  },
  {
    id: 'network.remote_access',
    tag: 'dangerous.network',
    severity: 'medium',
    programs: '*',
    description:
      'Fetches or starts software with which a person far away sees the screen or controls the machine.',
    safer: 'ssh ada@host',
    saw: (command) => namesTool(command, namesRemoteAccess),
    hits: [
      'Start-Process "C:\\x\\ammyy.exe"',
      'AnyDesk.exe --install C:\\a --silent',
      'curl -O https://download.x.test/rustdesk-1.2.3.deb',
      '"C:\\Program Files (x86)\\Radmin Viewer 3\\Radmin.exe"',
      'Start-Process "C:\\x\\Splashtop Remote\\Server\\SRServer.exe"',
    ],
    misses: [
      'ssh ada@host',
      'cat anydesk.md',
      'grep teamviewer hosts.txt',
      'npm install splash',
      'npx supremo',
      'docker run syncro build',
      './bin/atera migrate',
    ],
  },
];

/** Programs that print, search or list, and package managers: a name in their words is not a tool that runs. */
const MENTIONS =
  /^(?:echo|printf|write-host|write-output|write-verbose|write-warning|write-information|git|gh|glab|[ef]?grep|rg|ag|apt|apt-get|apk|dnf|yum|brew|npm|pnpm|yarn|pip3?|cargo|go|gem|man|ls|dir|cat|head|tail|less|wc|diff|rm|find|which|where|touch|mkdir|test|\[\[?|logger|say|true|:|rem|case|export|make|pytest|vim?|nano|code)$/;

function namesTool(command: Command, isName: (text: string) => boolean): boolean {
  if (MENTIONS.test(command.name)) return false;
  return isName(command.program) || command.words.some(({ text }) => isName(text));
}
