/**
 * Programs that come signed with Windows, Office or developer tools, and the shapes of arguments with which they fetch
 * a file, run another program or copy what is locked. The shape decides, for the programs themselves are ordinary.
 * Sources: the vendor's reference of each program, and the public catalogue of the LOLBAS project.
 */

export interface SignedProgram {
  /** Names in lower case without `.exe`, separated by blanks. */
  readonly programs: string;
  /** The shape of the arguments, joined with blanks, with one before the first. */
  readonly shape: RegExp;
  readonly effect: 'fetches' | 'runs' | 'takes';
}

const WEB = 'https?:\\/\\/';
const UNC = '\\\\\\\\[\\w.-]{1,64}\\\\';
const REMOTE = new RegExp(`${WEB}|${UNC}`, 'i');
/** An alternate data stream: `file.txt:name`, and not a drive. */
const STREAM = /[\w)]\.\w{1,5}:[\w.-]{2,}/;
const LIBRARY = /\.(?:dll|ocx|cpl|wll|xll)\b/i;
const ANY = / \S/;

export const SIGNED_PROGRAMS: readonly SignedProgram[] = [
  { programs: 'certreq', shape: /-post .{0,400}https?:/i, effect: 'fetches' },
  { programs: 'certoc', shape: /-(?:getcacaps .{0,400}https?:|loaddll )/i, effect: 'runs' },
  { programs: 'cmdl32', shape: /\/vpn .{0,200}\/lan/i, effect: 'fetches' },
  {
    programs: 'configsecuritypolicy gfxdownloadwrapper imewdbld msohtmed mspub installutil ieexec',
    shape: REMOTE,
    effect: 'fetches',
  },
  { programs: 'winword excel powerpnt msaccess visio outlook', shape: REMOTE, effect: 'fetches' },
  { programs: 'winword excel powerpnt', shape: /\/l .{0,200}\.(?:dll|wll|xll)\b/i, effect: 'runs' },
  { programs: 'datasvcutil', shape: /\/uri:https?:/i, effect: 'fetches' },
  {
    programs: 'protocolhandler appinstaller',
    shape: new RegExp(`${WEB}|ms-appinstaller:`, 'i'),
    effect: 'fetches',
  },
  { programs: 'desktopimgdownldr', shape: /\/lockscreenurl:https?:/i, effect: 'fetches' },
  { programs: 'finger', shape: /@[\w.-]{3,}/, effect: 'fetches' },
  { programs: 'nscurl', shape: new RegExp(WEB, 'i'), effect: 'fetches' },
  {
    programs: 'squirrel update',
    shape: /--(?:download|update(?:rollback)?|processstart)[= ]/i,
    effect: 'runs',
  },
  {
    programs: 'diantz makecab extrac32 expand replace esentutl print findstr xcopy robocopy',
    shape: STREAM,
    effect: 'takes',
  },
  { programs: 'diantz extrac32 expand replace', shape: new RegExp(UNC), effect: 'fetches' },
  { programs: 'esentutl', shape: /\/(?:y .{0,300}\/d|vss)/i, effect: 'takes' },
  {
    programs: 'msedge chrome msedgewebview2',
    shape:
      /--(?:gpu-launcher|utility-cmd-prefix|renderer-cmd-prefix|disable-gpu-sandbox .{0,200}--gpu)|--headless .{0,200}--dump-dom/i,
    effect: 'runs',
  },
  { programs: 'atbroker', shape: /\/start /i, effect: 'runs' },
  { programs: 'bginfo', shape: /\.bgi|\/popup|\/nolicprompt/i, effect: 'runs' },
  { programs: 'cdb windbg ntsd kd', shape: /-(?:cf|pd|pn|c) |\.shell/i, effect: 'runs' },
  {
    programs: 'conhost openconsole',
    shape: /(?:--headless )?[\w:\\".-]{2,120}\.exe|--headless/i,
    effect: 'runs',
  },
  { programs: 'csi rcsi fsi fsianycpu dnx', shape: /\.(?:csx|fsx|fsscript|dll)\b/i, effect: 'runs' },
  { programs: 'devtoolslauncher', shape: /launchfordeploy/i, effect: 'runs' },
  { programs: 'dnscmd', shape: /\/config .{0,200}serverlevelplugindll/i, effect: 'runs' },
  { programs: 'extexport xbootmgr mftrace wfc wlrmdr', shape: ANY, effect: 'runs' },
  { programs: 'explorer', shape: /\/root,.{0,200}\.exe/i, effect: 'runs' },
  { programs: 'ftp', shape: / -s:/i, effect: 'runs' },
  { programs: 'gpscript', shape: /\/(?:logon|startup)/i, effect: 'runs' },
  { programs: 'ie4uinit', shape: /-basesettings/i, effect: 'runs' },
  { programs: 'installutil', shape: /\/u\b|\/logfile=/i, effect: 'runs' },
  { programs: 'launch-vsdevshell', shape: /vsinstallationpath|vswherepath/i, effect: 'runs' },
  { programs: 'microsoft.workflow.compiler', shape: ANY, effect: 'runs' },
  { programs: 'mmc', shape: /-embedding|\.msc .{0,80}-s/i, effect: 'runs' },
  { programs: 'mpiexec remote', shape: /\/s .{0,80}(?:cmd|powershell)|-n 1 .{0,80}\.exe/i, effect: 'runs' },
  { programs: 'msdeploy', shape: /runcommand/i, effect: 'runs' },
  { programs: 'msdt', shape: /-(?:path|af)|\/(?:id|af|cab) /i, effect: 'runs' },
  { programs: 'netsh', shape: /add helper|bridge|trace start .{0,200}capture/i, effect: 'runs' },
  {
    programs:
      'offlinescannershell pcwrun pcwutl provlaunch runexehelper settingsynchost sqltoolsps unregmp2 vsiisexelauncher',
    shape: ANY,
    effect: 'runs',
  },
  { programs: 'pnputil', shape: /[-/](?:i|add-driver)\b.{0,300}\.inf/i, effect: 'runs' },
  { programs: 'print', shape: /\/d:/i, effect: 'takes' },
  { programs: 'runscripthelper', shape: /surfacecheck/i, effect: 'runs' },
  {
    programs: 'ssh sftp scp',
    shape: /-o ?"?proxycommand=(?:\S{0,80}\\)?(?:cmd|powershell|calc|mshta|rundll32|wscript)/i,
    effect: 'runs',
  },
  { programs: 'stordiag wuauclt', shape: /updatedeploymentprovider|-collectetw/i, effect: 'runs' },
  { programs: 'tracker', shape: /\/d .{0,200}\.dll/i, effect: 'runs' },
  { programs: 'vsjitdebugger', shape: /\.exe\b/i, effect: 'runs' },
  { programs: 'vsls-agent', shape: /--agentextensionpath/i, effect: 'runs' },
  { programs: 'winget', shape: /--manifest|-m .{0,80}\.ya?ml/i, effect: 'runs' },
  { programs: 'winrm', shape: /invoke .{0,300}(?:win32_process|create)/i, effect: 'runs' },
  {
    programs: 'addinutil acccheckconsole appcert aspnet_compiler coregen colorcpl eudcedit',
    shape: /-addinroot|\.dll\b|\.exe\b|-outputpath|\\temp|\\public/i,
    effect: 'runs',
  },
  { programs: 'agentexecutor', shape: /-powershell/i, effect: 'runs' },
  {
    programs: 'cl_invocation cl_mutexverifiers cl_loadassembly utilityfunctions',
    shape: ANY,
    effect: 'runs',
  },
  { programs: 'devinit', shape: /msi-install/i, effect: 'runs' },
  {
    programs: 'adplus dumpminitool createdump sqldumper dump64',
    shape: /-(?:p|pn|hang|pmn|f|u) |--processid|\d{2,6}/i,
    effect: 'takes',
  },
  { programs: 'ldifde', shape: / -i\b/i, effect: 'runs' },
  { programs: 'msconfig', shape: / -5/, effect: 'runs' },
  { programs: 'dtutil', shape: new RegExp(UNC), effect: 'takes' },
  { programs: 'rundll32 regsvr32', shape: LIBRARY, effect: 'runs' },
];

const by_program = new Map<string, SignedProgram[]>();
for (const row of SIGNED_PROGRAMS)
  for (const name of row.programs.split(' ')) by_program.set(name, [...(by_program.get(name) ?? []), row]);

/** All names of the table, separated by blanks. */
export const SIGNED_PROGRAM_NAMES: string = [...by_program.keys()].join(' ');

/** Returns the row of the table whose shape the arguments of a program have. */
export function findSignedUse(name: string, joined_arguments: string): SignedProgram | undefined {
  return by_program.get(name)?.find(({ shape }) => shape.test(joined_arguments));
}
