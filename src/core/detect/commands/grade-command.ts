import type { Severity } from '../../types/index.ts';
import { hasFlag, joinWords, listOperands } from '../shell/options.ts';
import type { Command } from '../shell/syntax.ts';

/**
 * The severity of commands by what they can lose, and how far they reach. `critical` is for what an operator would not
 * approve in passing; `high` is for what an approval is enough.
 */

/** The most commands of a pipeline whose addresses are read. */
const PIPELINE_MAX = 16;
const ADDRESS = /\b(?:https?|ftp):\/\/([^\s/'"()?#]{1,253})/gi;
/** Hosts on which anyone can leave a file without a name: pastes, shorteners, tunnels, uploads and drops. */
const NAMELESS_HOST =
  /(?:^|\.)(?:pastebin\.com|paste\.ee|paste\.rs|ix\.io|0x0\.st|termbin\.com|sprunge\.us|hastebin\.com|dpaste\.(?:com|org)|transfer\.sh|file\.io|bashupload\.com|temp\.sh|oshi\.at|catbox\.moe|anonfiles\.com|gofile\.io|bit\.ly|tinyurl\.com|t\.co|is\.gd|cutt\.ly|rb\.gy|ngrok\.(?:io|app|dev)|ngrok-free\.app|trycloudflare\.com|loca\.lt|serveo\.net|localhost\.run|webhook\.site|requestbin\.\w+|pipedream\.net|duckdns\.org|no-ip\.\w+|discordapp\.com|onion|gist\.githubusercontent\.com)$|(?:^|[.-])(?:evil|attacker|malicious|hacker|malware)(?:[.-]|$)/i;
/** A name with a top-level domain, and neither an IP address nor a port. */
const NAMED_HOST = /^(?:[a-z0-9_-]{1,63}\.){1,6}[a-z]{2,24}$/i;

/** Grades code that is run from the network: `high` if every address is HTTPS at a named host, as of an installer. */
export function gradeInstaller(command: Command, next?: Command): Severity {
  let texts = joinWords(command);
  let looked = 0;
  for (let at = command.previous; at !== null && looked < PIPELINE_MAX; at = at.previous) {
    texts += joinWords(at);
    looked += 1;
  }
  // The reading of a shell makes the argument of a method (`.DownloadString('https://...')`) the next command.
  if (command.program.startsWith('.') && next !== undefined) texts += ` ${next.program} `;
  return findAddresses(texts) === 'named' ? 'high' : 'critical';
}

/** Returns whether anyone can leave a file on a host, or receive one there, without a name. */
export function isNamelessHost(host: string): boolean {
  return NAMELESS_HOST.test(host);
}

/** Returns what the addresses in a text are: `named` if all are HTTPS at named hosts; `null` if there is none. */
export function findAddresses(text: string): 'named' | 'unnamed' | null {
  const addresses = [...text.matchAll(ADDRESS)];
  if (addresses.length === 0) return null;
  const areNamed = addresses.every(
    ([address, host]) => /^https:/i.test(address) && NAMED_HOST.test(host!) && !NAMELESS_HOST.test(host!),
  );
  return areNamed ? 'named' : 'unnamed';
}

/** Grades rights of a container: `critical` if it gets the root folder, the processes or the disks of the machine. */
export function gradeContainer(command: Command): Severity {
  const text = joinWords(command);
  const isWhole =
    /(?: -v |--volume[= ]|--mount[= ]\S*(?:src|source)=)\/(?:etc|root|proc|sys|boot|dev)?[:,]| --(?:pid|ipc|userns)[= ]host| --cap-add[= ](?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE)|"hostPID"|"privileged": ?true| --device[= ]\/dev\/(?:sd|nvme|mem)/i.test(
      text,
    );
  return isWhole || /^ (?:\S+ ){0,4}(?:exec|debug) /.test(text) ? 'critical' : 'high';
}

/** Grades rights in a cluster or a cloud account: `critical` if they are an administrator's. */
export function gradeRights(command: Command): Severity {
  return /cluster-admin|AdministratorAccess|FullAccess|roles\/(?:owner|editor|iam\.\w*[aA]dmin)|--role[= ]["']?(?:Owner|Contributor|User Access Administrator)|create-login-profile|update-assume-role-policy|put-(?:user|role)-policy|"?Action"?: ?"\*"| --policy-arn a | create-user |admin/i.test(
    joinWords(command),
  )
    ? 'critical'
    : 'high';
}

/** Names of what is made for a test and made again, and names that are not known. */
const PASSING =
  /(?:^|[^a-z])(?:tests?|testing|dev|develop|development|tmp|temp|demo|ci|sandbox|kind|minikube|example|preview|e2e|perf|scratch|local|playground)(?:[^a-z]|$)|\$/i;

/** Grades the deletion of a whole namespace, cluster, stack or database: `high` if its name is one of a test. */
export function gradeWhole(command: Command): Severity {
  const text = joinWords(command);
  // Its clusters are on this machine, for development.
  if (/ system prune /.test(text) || command.name === 'minikube') return 'high';
  if (/ --all /.test(text) && !PASSING.test(text)) return 'critical';
  return listOperands(command).some((word) => PASSING.test(word)) ? 'high' : 'critical';
}

/** Grades the reset of a database with a tool: `high` where the tool is for development and nothing says production. */
export function gradeReset(command: Command): Severity {
  const { name, assignments } = command;
  const text = `${assignments.map((each) => `${each.name}=${each.value}`).join(' ')}${joinWords(command)}`;
  if (/prod|live|DISABLE_DATABASE_ENVIRONMENT_CHECK|staging/i.test(text)) return 'critical';
  if (PASSING.test(text)) return 'high';
  return /^(?:dropdb|dropuser|mysqladmin|etcdctl|influx|pg_restore)$/.test(name) ? 'critical' : 'high';
}

/** Grades the destruction of infrastructure: `critical` for all of a configuration, a repository or a bucket. */
export function gradeDestruction(command: Command): Severity {
  const text = joinWords(command);
  if (/^(?:terraform|tofu|terragrunt|pulumi|cdk|cdktf)$/.test(command.name))
    return / destroy /.test(text) && !/ -?-target/.test(text) ? 'critical' : 'high';
  if (/^(?:gh|glab|hub)$/.test(command.name))
    return /^ (?:repo|project) (?:delete|archive) /.test(text) ? 'critical' : 'high';
  if (command.name === 'aws')
    return / s3 rb .*--force/.test(text) ||
      / s3 rm s3:\/\/[^/\s]+\/?(?:\*\*?)? .*--recursive| s3 rm --recursive s3:\/\/[^/\s]+\/? /.test(text)
      ? 'critical'
      : 'high';
  if (/^(?:gsutil|gcloud)$/.test(command.name))
    return / (?:rm|rb) .*-(?:-recursive|\w*[rR]).* gs:\/\/[^/\s]+\/?(?:\*\*?)? | rb gs:/.test(text)
      ? 'critical'
      : 'high';
  return 'high';
}

/**
 * Grades code for the kernel: `high` for a module by its name, which `modprobe` takes from the folder of the installed
 * kernel only. A file, another folder or a forced module is `critical`.
 */
export function gradeModule(command: Command): Severity {
  if (command.name === 'depmod') return 'high';
  const isInstalled =
    command.name === 'modprobe' &&
    !hasFlag(
      command,
      '-d',
      '--dirname',
      '-C',
      '--config',
      '-f',
      '--force',
      '--force-vermagic',
      '-S',
      '--set-version',
    ) &&
    listOperands(command).every((word) => /^(?!.*\.ko)[\w-]{1,64}(?:=[\w,:.-]{1,100})?$/.test(word));
  return isInstalled ? 'high' : 'critical';
}
