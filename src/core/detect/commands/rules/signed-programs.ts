import { joinWords } from '../../shell/options.ts';
import { findSignedUse, SIGNED_PROGRAM_NAMES } from '../signed-programs.ts';
import type { CommandRule } from './rule.ts';

/** Rules for Windows by the shape of the arguments: programs of the vendor, shares of administrators, other tools. */
export const signedProgramRules: readonly CommandRule[] = [
  {
    id: 'windows.signed_program',
    tag: 'dangerous.execution',
    severity: 'high',
    grade: (command) =>
      findSignedUse(command.name, joinWords(command))?.effect === 'runs' ? 'high' : 'medium',
    programs: SIGNED_PROGRAM_NAMES,
    description:
      'Uses a signed program of Windows or of a developer tool to fetch a file, to run another program, or to copy what is locked.',
    safer: 'certreq -enroll',
    saw: (command) => {
      const text = joinWords(command);
      return (
        !/ (?:\/\?|--help|-h) {1,2}$/.test(`${text} `) && findSignedUse(command.name, text) !== undefined
      );
    },
    hits: [
      'certreq.exe -Post -config https://x.test C:\\Windows\\win.ini a.txt',
      'conhost.exe --headless calc.exe',
      'microsoft.workflow.compiler.exe a.xml b.txt',
      'pnputil.exe -i -a C:\\x\\a.inf',
      'msedge.exe --disable-gpu-sandbox --gpu-launcher="cmd.exe /c x"',
      'ssh -o ProxyCommand=calc.exe .',
      'esentutl.exe /y C:\\a.dat /d C:\\b.dat /o',
    ],
    misses: [
      'ssh -o ProxyCommand="nc %h %p" host',
      'msedge https://x.test',
      'findstr /s needle *.txt',
      'expand a.cab -F:* C:\\out',
      'winget install git',
      'ftp host',
      'update --check',
      'chrome --headless --print-to-pdf a.html',
      'chrome --headless --dump-dom https://x.test',
      'dnx dotnetsay',
      'aspnet_compiler -v /app -p src out',
      'findstr "server.port:8080" application.yml',
      'netsh bridge show adapter',
      'wt -d . cmd',
    ],
  },
  {
    id: 'windows.admin_share',
    tag: 'dangerous.network',
    severity: 'high',
    programs: '*',
    description: 'Reads or writes the hidden share of a disk or of the system folder on another machine.',
    safer: 'copy \\\\server\\public\\a.txt .',
    saw: (command) =>
      !/^(?:echo|write-host|git|grep|rg|findstr|rem)$/.test(command.name) &&
      (ADMIN_SHARE.test(joinWords(command)) ||
        command.redirections.some(({ target }) => ADMIN_SHARE.test(` ${target}`))),
    hits: [
      'copy \\\\10.0.0.5\\C$\\Users\\a.txt .',
      'net use %logonserver%\\IPC$ /user:a b',
      'cmd.exe /c hostname > \\\\host\\ADMIN$\\out.txt',
    ],
    misses: ['copy \\\\server\\public\\a.txt .', 'echo \\\\host\\C$\\a', 'dir \\\\wsl$\\Ubuntu\\home'],
  },
  {
    id: 'windows.capture',
    tag: 'dangerous.network',
    severity: 'medium',
    programs: 'new-neteventsession add-neteventprovider start-neteventsession pktmon',
    description: 'Records the packets of the network.',
    safer: 'Get-NetEventSession',
    saw: (command) =>
      command.words.length > 0 && !/ (?:help|status|list|filter list)\b/i.test(joinWords(command)),
    hits: [
      'New-NetEventSession -Name a -CaptureMode SaveToFile -LocalFilePath C:\\a.etl',
      'pktmon start --etw',
    ],
    misses: ['Get-NetEventSession', 'pktmon help'],
  },
  {
    id: 'windows.key_search',
    tag: 'dangerous.credentials',
    severity: 'high',
    programs: '*',
    description: 'Searches the disks of Windows for files of keys and passwords.',
    safer: 'Get-ChildItem -Filter *.cs -Recurse',
    saw: (command) => {
      const text = `${command.program} ${joinWords(command)}`.slice(0, 2000);
      if (
        !/^(?:get-childitem|gci|dir|ls|foreach|findstr|where|where-object|select-string)/i.test(
          command.program,
        )
      )
        return false;
      const kinds = new Set([...text.matchAll(KEY_FILE)].map(([kind]) => kind.toLowerCase()));
      return kinds.size >= 3;
    },
    hits: ['Get-ChildItem C:\\ -Recurse -Include *.pfx,*.ppk,*.kdbx', 'dir /s /b *.pem *.p12 *.ppk'],
    misses: ['Get-ChildItem -Filter *.pem', 'dir /s *.txt *.key', 'Get-ChildItem -Recurse -Include *.cs'],
  },
  {
    id: 'discovery.security_product',
    tag: 'dangerous.discovery',
    severity: 'low',
    programs: '*',
    description: 'Asks Windows which security products run.',
    safer: 'Get-Process',
    saw: (command) =>
      /^(?:wmic|get-wmiobject|gwmi|get-ciminstance|gcim|get-mpcomputerstatus)$/.test(command.name) &&
      (command.name === 'get-mpcomputerstatus' ||
        /securitycenter2?|antivirusproduct|firewallproduct/i.test(joinWords(command))),
    hits: ['wmic /namespace:\\\\root\\SecurityCenter2 path AntiVirusProduct get displayName'],
    misses: ['wmic cpu get name', 'Get-CimInstance Win32_OperatingSystem'],
  },
];

const ADMIN_SHARE =
  /(?:(?<![\w\\])\\\\(?!wsl)[\w.%${}:-]{1,64}|%logonserver%)\\(?:[A-Za-z]|ADMIN|admin|IPC)\$(?:\\|$|\s)/;
const KEY_FILE = /\.(?:pfx|ppk|p12|pem|kdbx|key|pgp|gpg|p7b|asc|jks|ovpn|rdp|vnc|kdb)\b/gi;
