import { joinWords } from '../../shell/options.ts';
import type { Command } from '../../shell/syntax.ts';
import type { CommandRule } from './rule.ts';

/** Programs that print, search or document, so that what they say does not run. */
const PRINTS =
  /^(?:echo|printf|write-(?:host|output|verbose|warning|information)|git|gh|[ef]?grep|rg|findstr|select-string|rem|logger|say|test|\[\[?|man|cat|get-content|ls|dir)$/;

/** A statement as written, with its program. Of long ones the head and the tail. */
function getStatement(command: Command): string {
  return `${command.program} ${joinWords(command)}`;
}

/** Rules for Windows: other machines, disks below the file system, hidden names and times, what others load. */
export const windowsAccessRules: readonly CommandRule[] = [
  {
    id: 'windows.remote_session',
    tag: 'dangerous.network',
    severity: 'low',
    // A password in plain text is in the history and in the log of the process as well.
    grade: (command) =>
      / [-/](?:password|pass|p|pw)[ :]|asplaintext/i.test(joinWords(command)) ? 'medium' : 'low',
    programs:
      'new-pssession enter-pssession connect-pssession invoke-command icm new-cimsession connect-viserver new-smbmapping mstsc cmdkey new-psdrive invoke-vmscript start-vmhostservice',
    description: 'Opens a session, a desktop or a share on another machine.',
    safer: 'Get-PSSession',
    saw: (command) => {
      const text = joinWords(command);
      if (command.name === 'mstsc') return /\/v:/i.test(text);
      if (command.name === 'cmdkey') return /\/(?:add|generic)/i.test(text);
      if (/^new-(?:smbmapping|psdrive)$/.test(command.name)) return /\\\\[\w.$-]+\\/.test(text);
      if (/^(?:connect-viserver|invoke-vmscript|start-vmhostservice)$/.test(command.name))
        return command.words.length > 0;
      return / -(?:computername|cn|vmname|hostname|connectionuri|vmid|sshtransport)\b/i.test(text);
    },
    hits: [
      'New-PSSession -ComputerName srv1',
      'Invoke-Command -ComputerName srv1 -ScriptBlock { hostname }',
      'cmdkey /generic:TERMSRV/srv /user:a /pass:b',
      'mstsc /v:srv1',
      'New-SmbMapping -RemotePath \\\\srv\\sales',
    ],
    misses: [
      'Get-PSSession',
      'Invoke-Command -ScriptBlock { hostname }',
      'New-PSDrive -Name a -PSProvider FileSystem -Root C:\\a',
      'cmdkey',
    ],
  },
  {
    id: 'windows.raw_disk',
    tag: 'dangerous.credentials',
    severity: 'high',
    programs: '*',
    description: 'Reads a disk or a shadow copy below the file system, past the rights of files.',
    safer: 'Get-Volume',
    saw: (command) => !PRINTS.test(command.name) && RAW_DISK.test(getStatement(command)),
    hits: [
      "$h = New-Object IO.FileStream '\\\\.\\C:', 'Open', 'Read', 'ReadWrite'",
      'copy \\\\?\\GLOBALROOT\\Device\\HarddiskVolumeShadowCopy1\\a.txt C:\\b',
    ],
    misses: ['Get-Volume', 'copy C:\\a.txt D:\\', 'echo \\\\.\\C:', 'New-Item \\\\srv\\share\\a.txt'],
  },
  {
    id: 'windows.disk_image',
    tag: 'dangerous.execution',
    severity: 'low',
    programs: 'mount-diskimage mount-vhd',
    description: 'Mounts a disk image, whose files lose the mark that says they came from the network.',
    safer: 'Get-DiskImage a.iso',
    saw: (command) => command.words.length > 0,
    hits: ['Mount-DiskImage -ImagePath C:\\a.iso', 'Mount-VHD a.vhdx'],
    misses: ['Get-DiskImage a.iso', 'Dismount-DiskImage a.iso'],
  },
  {
    id: 'windows.profiler',
    tag: 'dangerous.privilege',
    severity: 'high',
    programs: '*',
    description: 'Makes every program of .NET load a foreign library, or switches its traces off.',
    safer: 'dotnet --info',
    saw: (command) =>
      !PRINTS.test(command.name) &&
      (PROFILER.test(getStatement(command)) ||
        command.assignments.some(({ name }) => PROFILER.test(`set ${name}`))),
    hits: [
      "$env:COR_PROFILER = '{09108e71-974c-4010-89cb-acf471ae9e2c}'",
      'set COR_ENABLE_PROFILING=1',
      'setx DOTNET_STARTUP_HOOKS C:\\a.dll',
    ],
    misses: ['dotnet --info', 'set DOTNET_CLI_TELEMETRY_OPTOUT=1', 'echo COR_PROFILER'],
  },
  {
    id: 'windows.obfuscated',
    tag: 'dangerous.execution',
    severity: 'high',
    programs: '*',
    description: 'Spells the name of a program with parts of variables, so that it is not seen.',
    safer: 'cmd /c dir',
    saw: (command) => !PRINTS.test(command.name) && OBFUSCATED.test(getStatement(command).slice(0, 1200)),
    hits: ['%LOCALAPPDATA:~-3,1%md /c whoami'],
    misses: ['cmd /c dir', 'echo %DATE:~0,4%', 'set y=%DATE:~0,4%'],
  },
  {
    id: 'windows.attributes',
    tag: 'dangerous.log_tampering',
    severity: 'medium',
    programs: '*',
    description: 'Gives a file another time, or hides it, through its properties.',
    safer: 'Get-Item a.txt',
    saw: (command) => !PRINTS.test(command.name) && ATTRIBUTE.test(getStatement(command)),
    hits: ["$f.LastWriteTime = '01/01/1970'", "$f.attributes='Hidden'", '(Get-Item a.txt).CreationTime = $d'],
    misses: [
      'Get-Item a.txt',
      '$f.LastWriteTime',
      'if ($f.LastWriteTime -eq $d) { dir }',
      "$f.Attributes -match 'Hidden'",
    ],
  },
  {
    id: 'windows.certificate_check',
    tag: 'dangerous.network',
    severity: 'medium',
    programs: '*',
    description: 'Has PowerShell accept every certificate, so that any machine can answer for a server.',
    safer: 'Invoke-WebRequest https://x.test/a.zip -OutFile a.zip',
    saw: (command) =>
      !PRINTS.test(command.name) &&
      /servercertificatevalidationcallback|icertificatepolicy/i.test(getStatement(command)),
    hits: ['[System.Net.ServicePointManager]::ServerCertificateValidationCallback = { $True }'],
    misses: [
      '[Net.ServicePointManager]::SecurityProtocol = "tls12"',
      'echo ServerCertificateValidationCallback',
    ],
  },
  {
    id: 'windows.com_object',
    tag: 'dangerous.execution',
    severity: 'high',
    programs: '*',
    description:
      'Starts a program through an object of Windows or Office, so that another program seems to have started it.',
    safer: 'Start-Process notepad',
    saw: (command) => !PRINTS.test(command.name) && COM_OBJECT.test(getStatement(command)),
    hits: [
      '$o = [activator]::CreateInstance([type]::GetTypeFromCLSID("9BA05972-F6A8-11CF-A442-00A0C90A8F39"))',
      '$item.Document.Application.ShellExecute("cmd.exe","/c calc","","",0)',
    ],
    misses: ['Start-Process notepad', '[activator]::CreateInstance($t)', 'echo GetTypeFromCLSID'],
  },
  {
    id: 'windows.password_prompt',
    tag: 'dangerous.credentials',
    severity: 'medium',
    programs: '*',
    description:
      'Asks the person at the machine for a password in a window that looks like one of the system.',
    safer: 'Get-Credential',
    saw: (command) =>
      !PRINTS.test(command.name) &&
      /promptforcredential|credui(?:promptfor|parse)/i.test(getStatement(command)),
    hits: ["$cred = $host.UI.PromptForCredential('Windows Security','',$u,$d)"],
    misses: ['Get-Credential', 'echo PromptForCredential'],
  },
  {
    id: 'windows.extension',
    tag: 'dangerous.persistence',
    severity: 'high',
    programs:
      'install-transportagent enable-transportagent secedit sdbinst new-netqospolicy add-printerdriver',
    description: 'Has a server or Windows load foreign code, or changes the rules of its security.',
    safer: 'secedit /analyze /db a.db',
    saw: (command) => {
      const text = joinWords(command);
      if (command.name === 'secedit') return /\/(?:configure|import)\b/i.test(text);
      if (command.name === 'new-netqospolicy') return /-apppathname/i.test(text) && /throttle/i.test(text);
      return command.words.length > 0;
    },
    hits: [
      'Install-TransportAgent -Name a -AssemblyPath c:\\a.dll',
      'secedit /configure /db a.db',
      'New-NetQosPolicy "a" -AppPathNameMatchCondition "MsSense.exe" -ThrottleRateActionBitsPerSecond 8',
    ],
    misses: ['secedit /analyze /db a.db', 'Get-TransportAgent', 'New-NetQosPolicy "Live" -LiveMigration'],
  },
  {
    id: 'log_tampering.windows_traces',
    tag: 'dangerous.log_tampering',
    severity: 'high',
    programs: 'remove-item ri rm del erase clear-content clc set-content move-item',
    description: 'Deletes the traces of started programs or the logs of Windows.',
    safer: 'Remove-Item a.txt',
    saw: (command) => TRACES.test(joinWords(command)),
    hits: ['del C:\\Windows\\Prefetch\\*.pf'],
    misses: ['Remove-Item a.txt', 'del prefetch.txt'],
  },
  {
    id: 'windows.stream',
    tag: 'dangerous.execution',
    severity: 'medium',
    programs: '*',
    description: 'Writes, reads or runs an alternate data stream, which no listing of files shows.',
    safer: 'Get-Content a.txt',
    saw: (command) =>
      command.redirections.some(({ operator, target }) => !operator.startsWith('<<') && isStream(target)) ||
      (!PRINTS.test(command.name) &&
        (command.words.some(({ text }) => isStream(text)) || isStream(command.program))),
    hits: [
      'wscript c:\\ads\\file.txt:script.vbs',
      'certutil -f x y.txt:ttt.exe',
      'cmd.exe - < fakefile.doc:payload.bat',
      'rundll32 c:\\a\\b.txt:c.dll,DllMain',
      'findstr /V /L abc c:\\a\\b.exe > c:\\a\\b.txt:c.exe',
    ],
    misses: [
      'scp a.txt host.com:b.txt',
      'docker cp web:/a.txt:ro b',
      'curl localhost.dev:8080',
      'cat a.txt:12',
      'docker run -v ./a.conf:/a.conf x',
    ],
  },
  {
    id: 'discovery.windows_guards',
    tag: 'dangerous.discovery',
    severity: 'low',
    programs: '*',
    description: 'Looks for guards, debuggers or the owners of processes among what runs on Windows.',
    safer: 'Get-Process',
    saw: (command) => !PRINTS.test(command.name) && LOOKS_FOR_GUARD.test(getStatement(command)),
    hits: [
      'Get-Process | ? { $_.Description -like "*defender*" }',
      '$x = [System.Diagnostics.Debugger]::IsAttached',
      'gwmi win32_process | % { $_.getowner().user }',
    ],
    misses: ['Get-Process | ? { $_.Name -like "*node*" }', 'Get-Process -Name code', 'echo defender'],
  },
  {
    id: 'discovery.windows_inventory',
    tag: 'dangerous.discovery',
    severity: 'low',
    programs:
      'whoami query driverquery fltmc w32tm net tasklist sc get-nettcpconnection get-wmiobject gwmi get-ciminstance gcim get-acl ipconfig route get-mpthreat get-mpthreatdetection dscl dscacheutil socketfilterfw wmic get-smbmapping get-smbsession get-dnsclientcache reg secedit',
    description:
      'Lists rights, sessions, drivers, guards or the owners of processes, as before a further step.',
    safer: 'Get-Process',
    saw: takesInventory,
    hits: [
      'whoami /priv',
      'query user /server:srv1',
      'tasklist /m',
      'Get-WmiObject win32_computersystem | fl model',
      'dscl . list /Users',
      'wmic bios get serialnumber',
      'Get-Acl REGISTRY::HKLM\\SYSTEM\\CurrentControlSet\\Services\\*',
    ],
    misses: [
      'Get-Process',
      'whoami',
      'tasklist',
      'wmic cpu get name',
      'Get-CimInstance Win32_OperatingSystem',
      'ipconfig',
      'dscl . read /Users/ada NFSHomeDirectory',
    ],
  },
];

const RAW_DISK =
  /\\\\\.\\(?:[A-Za-z]:(?!\\\w)|PhysicalDrive\d|HarddiskVolume)|GLOBALROOT\\Device\\HarddiskVolume/i;
const PROFILER =
  /(?:^|\$env:|\bsetx?\s{1,2})(?:COR(?:ECLR)?_(?:ENABLE_PROFILING|PROFILER(?:_PATH(?:_\d\d)?)?)|DOTNET_STARTUP_HOOKS|COMPlus_ETWEnabled|DOTNET_ETWEnabled)\b/i;
const OBFUSCATED = /(?:^|[\s&|(])\w{0,3}%\w{2,40}:~\s?-?\d{1,3}(?:,\s?-?\d{1,3})?%(?:\w|%)/i;
const ATTRIBUTE =
  /\.(?:creation|lastwrite|lastaccess)time(?:utc)?\s{0,4}=(?!=)|\.attributes\s{0,4}\+?=\s{0,4}\[?['"]?(?:io\.fileattributes\]::|system\.io\.fileattributes\]::)?(?:hidden|system)/i;
const COM_OBJECT =
  /gettypefrom(?:clsid|progid)|\.application\.shellexecute|mmc20\.application|executeshellcommand|shellbrowserwindow/i;
const LOOKS_FOR_GUARD =
  /\.(?:description|processname|name|displayname|company)\s{1,2}-i?(?:like|match|eq|contains)\s{1,2}['"]?\*?(?:\w{0,10}virus|defender|carbon ?black|cylance|mcafee|sophos|crowdstrike|csfalcon|sentinel|sysmon|symantec|kaspersky|wireshark|procmon|dbg|debug|lsass)|debugger\]::isattached|\.getowner\b/i;
const TRACES =
  /[\\/]prefetch[\\/]|consolehost_history|[\\/]recent[\\/](?:automatic|custom)destinations|\.evtx\b/i;
/** A file name, and behind `:` the name of a program or a script. */
const STREAM =
  /(?:[a-z]:[\\/][^:*?"<>|\n]{0,200}|[\w$%{}~\\ -]{1,80})\.(?:txt|log|docx?|xlsx?|rtf|png|jpe?g|gif|pdf|dat|cab|ini|xml|zip|csv):[\w-]{1,40}\.(?:exe|dll|bat|cmd|ps1|vbs|vbe|jse?|hta|wsf|sct|cpl|scr|com|reg|inf|cab)(?=$|[\s"',])/i;

function isStream(text: string): boolean {
  return text.length < 600 && STREAM.test(text);
}

const WMI_CLASS =
  /win32_(?:computersystem|useraccount|group\w*|loggedonuser|networkloginprofile|service|startupcommand|ntlogevent|share|quickfixengineering|bios|baseboard)\b|ds_(?:computer|user)|directory\\ldap|thermalzone|msft_mp|drivetype\s?=\s?2/i;

function takesInventory(command: Command): boolean {
  const text = joinWords(command);
  switch (command.name) {
    case 'whoami':
      return (
        / \/(?:priv|all|groups|user|logonid)/i.test(text) ||
        command.within.some((name) => /^(?:cmd|powershell|pwsh)$/.test(name))
      );
    case 'query':
      return /^ (?:user|session|process|termserver)\b/i.test(text);
    case 'driverquery':
    case 'get-nettcpconnection':
    case 'get-smbmapping':
    case 'get-smbsession':
    case 'get-dnsclientcache':
    case 'get-mpthreat':
    case 'get-mpthreatdetection':
      return true;
    case 'fltmc':
      return command.words.length === 0 || / (?:instances|filters|volumes)/i.test(text);
    case 'w32tm':
      return / \/(?:tz|query|monitor|stripchart)/i.test(text);
    case 'net':
      return /^ (?:time|users|use \\\\|statistics|start) /i.test(`${text} `);
    case 'tasklist':
      return / \/(?:svc|m|v|apps)\b/i.test(text);
    case 'sc':
      return / (?:query(?:ex)?(?: state= ?all)?|sdshow|qc) (?!\w)| sdshow /i.test(text);
    case 'ipconfig':
      return /\/displaydns/i.test(text);
    case 'route':
      return /^ print /i.test(text);
    case 'get-acl':
      return /currentcontrolset\\services/i.test(text);
    case 'dscl':
      return / -?(?:list|ls) \/(?:users|groups)/i.test(text) || / -?search /i.test(text);
    case 'dscacheutil':
      return / -q (?:user|group)/.test(text);
    case 'socketfilterfw':
      return /--(?:get|list)/.test(text);
    case 'wmic':
      return (
        / (?:baseboard|bios|csproduct|computersystem|share|netlogin|sysaccount|ntdomain|diskdrive|logicaldisk|memphysical|nic|nicconfig) /i.test(
          text,
        ) && / get /i.test(text)
      );
    case 'secedit':
      return / \/export /i.test(text);
    case 'reg':
      return / query .*(?:softwareinventorylogging|nls\\language|currentversion\\(?:run|policies)|microsoft antimalware|windows defender)/i.test(
        text,
      );
    default:
      return WMI_CLASS.test(text);
  }
}
