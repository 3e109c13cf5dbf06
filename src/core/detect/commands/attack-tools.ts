/**
 * Names of public tools for attacks and of software for remote access, as they are in file names, addresses and
 * function names. Sources: the pages of the projects, and the list of software in MITRE ATT&CK. A name that is also a
 * word of ordinary texts counts only with the ending of a program.
 */

const DISTINCT =
  'mimikatz mimipenguin get-keystrokes processhacker systeminformer autosuid psiphon3? createremotethread(?:native)? rtlcreateuserthread etwpcreateetwthread ntcreatethreadex queueuserapc ntmapviewofsection mimidrv mimilib safetykatz sharpkatz betterkatz pypykatz nanodump handlekatz dumpert ppldump pplblade pplkiller lsassy lazagne firepwd hackbrowserdata sharpchrome sharpchromium sharpdpapi sharpweb chainbreaker keychaindump gsecdump pwdumpx? quarkspwdump secretsdump ntlmrelayx smbrelayx petitpotam printerbug dfscoerce kerbrute rubeus certipy pywhisker sharphound azurehound bloodhound(?:-python)? rusthound soaphound adrecon pingcastle powerview sharpup sharpview snaffler sharpshares winpeas(?:any|x64|x86)? linpeas linenum linux-exploit-suggester pspy(?:32|64)? privesccheck juicypotato(?:ng)? rottenpotato(?:ng)? sweetpotato godpotato roguepotato printspoofer(?:32|64)? efspotato akagi(?:32|64)? uacme phant0m sharpevtmute backstab(?:64)? edrsandblast edrsilencer edrkillshifter killav pchunter(?:32|64)? gmer evil-winrm crackmapexec netexec remcom paexec csexec psexec_psh invoke-thehash meterpreter cobaltstrike beacon_x64 sliver-(?:client|server) poshc2 empire-server merlinagent sandcat(?:.go)? grunt(?:http|smb|tap) havoc-agent pupy(?:x64)? quasarrat asyncrat njrat darkcomet xmrig ccminer nbminer phoenixminer ethminer cpuminer minerd nheqminer lolminer ligolo(?:-ng|-agent)? dnscat2? invoke-phant0m inveigh(?:zero)? pacu cloudfox roadrecon peirates pwnkit dirtycow dirtypipe metasploit msfvenom juice-dump sqlmap nircmd webbrowserpassview mailpassview wirelesskeyview netpass vncpassview chromepass bulletspassview adfind advanced_ip_scanner advanced_port_scanner';
const COMMON =
  'chisel responder hydra medusa havoc sliver merlin empire certify whisker gost frpc frps nps npc ncat terminator mythic netscan wce stowaway rakshasa villain fscan ladon cain potato seatbelt covenant coercer earlybird iodine powerup';
/** Programs with which a person far away sees or controls a machine. */
const REMOTE_ACCESS =
  'anydesk teamviewer(?:_(?:setup|service|desktop|qs|host))? rustdesk ammyy(?:_admin)? aa_v3 ultraviewer(?:_desktop|_setup)? ultravnc winvnc tvnserver tightvnc rserver3 remotepc(?:desktop|host|attended)? splashtop(?:_streamer)? srserver strwinclt gotoassist g2a_remote screenconnect(?:\\.clientsetup|\\.windowsclient)? connectwisecontrol netsupport(?:manager)? logmein lmi_rescue dwagent dwservice meshagent(?:32|64)? rutserv rutview rfusclient quickassist zohoassist za_connect bomgar(?:-scc)? aeroadmin litemanager romserver showmypc dameware(?:remote)? pdqdeploy(?:console)? action1_agent fleetdeck hoptodesk iperius(?:remote)? distantdesktop tacticalagent tacticalrmm ninjarmmagent remoteutilities anyviewer radmin_(?:viewer|server) ateraagent supremoservice syncroinstaller';
/** The same with names that are also words or names of other packages. */
const COMMON_REMOTE_ACCESS = 'radmin atera client32 supremo getscreen simplehelp pulseway xeox syncro deskin';

/** Functions of PowerShell modules for attacks and for the emulation of attackers. */
const FUNCTIONS =
  /^(?:(?:invoke|out|start|get|new|set|add|test)-ath[a-z]{4,40}|[a-z]{3,12}-aadint\w{2,40}|invoke-atomic(?:test|runner)|invoke-(?:reflectivepeinjection|shellcode\w{0,10}|dllinjection|psinject|smbexec|wmiexec|thehash|obfuscation|phant0m|bypassuac\w{0,20}|eventvwrbypass|fodhelper\w{0,10}|allchecks|privesc\w{0,10}|sharefinder|userhunter|portscan|powershelltcp\w{0,10}|powershelludp\w{0,10}|conptyshell|sessiongopher|nightmare|zerologon|petitpotam|certify|rubeus|seatbelt|snaffler|sharp[a-z]{2,20}|winpeas|watson|kerbrute|printnightmare|dnsexfiltrat\w{0,10}|egresscheck|wordlistscan|reflectivedll\w{0,12}|tokenstealing|processhollow\w{0,6}|hollow\w{0,12})|get-(?:gppautologon|vaultcredential|passhashes|browserdata|browserinformation|chromedump|timedscreenshot|microphoneaudio|modifiablepath|modifiableservice\w{0,6}|unquotedservice|unattendedinstallfile|azpasswords|lsasecret)|find-(?:processdllhijack|pathdllhijack|localadminaccess|interestingdomain\w{0,10}|avsignature)|start-(?:hollow|captureserver)|ppid-spoof|do-exfiltration|write-hijackdll|enter-gpphelp|install-ssp|add-persistence|new-userpersistenceoption|new-elevatedpersistenceoption)$/;

/** Steps of Stratus Red Team that change a cloud account as an attacker does. */
const STRATUS = /^(?:detonate|warmup|revert|cleanup)$/;

const ENDING = '\\.(?:exe|ps1|psm1|psd1|sh|py|dll|bin|elf|jar|zip|7z|tar\\.gz|tgz|bat|msi|dmg|app|deb|rpm)';
const BEFORE = '(?:^|[/\\\\=\\s"\'(])';
const VERSION = '(?:[-_.](?:v?\\d|x64|x86|amd64|arm64|win|linux|macos|darwin|master|main)[\\w.-]{0,40})?';
const AFTER = '(?=$|[\\s"\'),;?#])';

function joinAlternatives(names: string): string {
  return names.split(' ').join('|');
}

const ATTACK_TOOL = new RegExp(
  `${BEFORE}(?:(?:${joinAlternatives(DISTINCT)})(?:(?:${VERSION}${ENDING})|(?:\\.go-(?:linux|darwin|windows))|)|(?:${joinAlternatives(COMMON)})${VERSION}${ENDING})${AFTER}`,
  'i',
);
const REMOTE_ENDING = `${VERSION}\\.(?:exe|msi|dmg|zip|deb|rpm|pkg|app|apk)`;
const REMOTE_TOOL = new RegExp(
  `${BEFORE}(?:(?:${joinAlternatives(REMOTE_ACCESS)})(?:${REMOTE_ENDING}|)|(?:${joinAlternatives(COMMON_REMOTE_ACCESS)})${REMOTE_ENDING})${AFTER}`,
  'i',
);

/** Arguments longer than this are texts, and not names. */
const WORD_UNITS_MAX = 600;

/** Returns whether a word is or names a tool for attacks: a path, an address, a file name. */
export function namesAttackTool(text: string): boolean {
  return text.length < WORD_UNITS_MAX && ATTACK_TOOL.test(text);
}

/** Returns whether a word is or names software for remote access. */
export function namesRemoteAccess(text: string): boolean {
  return text.length < WORD_UNITS_MAX && REMOTE_TOOL.test(text);
}

/** Returns whether a command is a function of a module for attacks, or detonates a technique of a framework. */
export function callsAttackFunction(name: string, operands: readonly string[]): boolean {
  return FUNCTIONS.test(name) || (name === 'stratus' && STRATUS.test(operands[0] ?? ''));
}
