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
    programs: 'diantz makecab extrac32 expand replace esentutl print xcopy robocopy',
    shape: STREAM,
    effect: 'takes',
  },
  { programs: 'diantz extrac32 expand replace', shape: new RegExp(UNC), effect: 'fetches' },
  { programs: 'esentutl', shape: /\/(?:y .{0,300}\/d|vss)/i, effect: 'takes' },
  {
    programs: 'msedge chrome msedgewebview2',
    shape: /--(?:gpu-launcher|utility-cmd-prefix|renderer-cmd-prefix)/i,
    effect: 'runs',
  },
  { programs: 'atbroker', shape: /\/start /i, effect: 'runs' },
  { programs: 'bginfo', shape: /\.bgi|\/popup|\/nolicprompt/i, effect: 'runs' },
  { programs: 'cdb windbg ntsd kd', shape: /-(?:cf|pd|pn|c) |\.shell| -g\b/i, effect: 'runs' },
  {
    programs: 'conhost openconsole',
    shape: /[\w:\\".-]{2,120}\.exe|--headless/i,
    effect: 'runs',
  },
  { programs: 'csi rcsi fsi fsianycpu', shape: /\.(?:csx|fs\w{0,8}|dll)\b/i, effect: 'runs' },
  { programs: 'devtoolslauncher', shape: /launchfordeploy/i, effect: 'runs' },
  { programs: 'dnscmd', shape: /\/config .{0,200}serverlevelplugindll/i, effect: 'runs' },
  { programs: 'extexport xbootmgr mftrace wfc wlrmdr', shape: ANY, effect: 'runs' },
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
  {
    programs: 'netsh',
    shape: /add helper|bridge (?:set|create|install)|trace start .{0,200}capture/i,
    effect: 'runs',
  },
  {
    programs: 'pcwrun pcwutl provlaunch runexehelper settingsynchost sqltoolsps unregmp2 vsiisexelauncher',
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
  { programs: 'wuauclt', shape: /updatedeploymentprovider/i, effect: 'runs' },
  { programs: 'tracker', shape: /\/d .{0,200}\.dll/i, effect: 'runs' },
  { programs: 'vsjitdebugger', shape: /\.exe\b/i, effect: 'runs' },
  { programs: 'vsls-agent', shape: /--agentextensionpath/i, effect: 'runs' },
  { programs: 'winget', shape: /--manifest|-m .{0,80}\.ya?ml/i, effect: 'runs' },
  { programs: 'winrm', shape: /invoke .{0,300}(?:win32_process|create)/i, effect: 'runs' },
  {
    programs: 'addinutil acccheckconsole appcert aspnet_compiler coregen eudcedit',
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
  { programs: 'dtutil', shape: new RegExp(`${UNC}|/copy`, 'i'), effect: 'takes' },
  { programs: 'rundll32 regsvr32', shape: LIBRARY, effect: 'runs' },
  { programs: 'colorcpl xbootmgrsleep', shape: ANY, effect: 'runs' },
  {
    programs: 'customshellhost offlinescannershell workfolders wab stordiag iscsicpl changepk',
    shape: /^/,
    effect: 'runs',
  },
  { programs: 'explorer', shape: /\.(?:exe|scr|hta|vbs)\b/i, effect: 'runs' },
  { programs: 'msbuild', shape: /\.(?:xml|txt)\b/i, effect: 'runs' },
  { programs: 'ssh', shape: /(?:localhost|127\.0\.0\.1) .{0,80}\.exe\b/i, effect: 'runs' },
  { programs: 'curl', shape: /file:\/\/\/[a-z]:/i, effect: 'takes' },
  { programs: 'mstsc', shape: /\/shadow:/i, effect: 'runs' },
  { programs: 'tpmtool', shape: /drivertracing/i, effect: 'runs' },
  { programs: 'fsutil', shape: /file setzerodata/i, effect: 'takes' },
  { programs: 'cipher', shape: /\/w\b/i, effect: 'takes' },
  {
    programs: 'iediagcmd setres msedge_proxy defaultpack testwindowremoteagent slui sdclt',
    shape: ANY,
    effect: 'runs',
  },
  {
    programs: 'devicecredentialdeployment psr',
    shape: /^ {0,2}$|\/start\b.{0,120}\/output/i,
    effect: 'takes',
  },
  { programs: 'dsdbutil', shape: /ifm\b|activate instance/i, effect: 'takes' },
  { programs: 'fsutil', shape: /trace decode/i, effect: 'runs' },
  { programs: 'ecmangen winproj xsd wmprph', shape: REMOTE, effect: 'fetches' },
  { programs: 'gup', shape: /-unzipto\b/i, effect: 'fetches' },
  { programs: 'manage-bde pester', shape: /\.wsf\b|;|\/help .{0,200}[;&]/i, effect: 'runs' },
  { programs: 'mofcomp', shape: /\.mof\b/i, effect: 'runs' },
  {
    programs: 'microsoft.nodejstools.pressanykey vslaunchbrowser vsdiagnostics visualuiaverifynative pixtool',
    shape: /\.exe\b|\/launch:?|https?:/i,
    effect: 'runs',
  },
  { programs: 'ngen', shape: REMOTE, effect: 'fetches' },
  { programs: 'onedrivestandaloneupdater', shape: /^ {0,2}$/, effect: 'fetches' },
  { programs: 'printbrm', shape: /-[br]\b.{0,300}-f\b/i, effect: 'takes' },
  { programs: 'sqlps', shape: ANY, effect: 'runs' },
  {
    programs: 'teams slack discord code msteams whatsapp signal',
    shape: /--(?:gpu-launcher|processstart|utility-cmd-prefix|renderer-cmd-prefix)/i,
    effect: 'runs',
  },
  { programs: 'ttdinject ttd', shape: /\/(?:launch|clientparams|attach)|\.exe\b/i, effect: 'runs' },
  { programs: 'vshadow', shape: /-exec=|-nw\b/i, effect: 'runs' },
  {
    programs: 'wbadmin',
    shape: /start (?:backup|recovery) .{0,300}(?:ntds|systemstate|-include:)/i,
    effect: 'takes',
  },
  { programs: 'wfmformat wbemtest', shape: /^/, effect: 'runs' },
  { programs: 'wt', shape: /\.exe\b/i, effect: 'runs' },
  {
    programs: 'tar',
    shape: new RegExp(`${UNC}|\\.(?:txt|log|docx?|png|jpg|pdf|zip|exe|dll):[\\w.-]{2,}`),
    effect: 'takes',
  },
  { programs: 'dotnet', shape: /(?:temp|public|downloads)\\.{0,120}\.dll\b/i, effect: 'runs' },
];

const byProgram = new Map<string, SignedProgram[]>();
for (const row of SIGNED_PROGRAMS)
  for (const name of row.programs.split(' ')) byProgram.set(name, [...(byProgram.get(name) ?? []), row]);

/** All names of the table, separated by blanks. */
export const SIGNED_PROGRAM_NAMES: string = [...byProgram.keys()].join(' ');

/** Returns the row of the table whose shape the arguments of a program have. */
export function findSignedUse(name: string, joinedArguments: string): SignedProgram | undefined {
  return byProgram.get(name)?.find(({ shape }) => shape.test(joinedArguments));
}
