/**
 * The forms by which the benchmark of an ordinary day decides, without our detectors, whether a command is blocked or a
 * value masked rightly. The table counts all others as wrong.
 */

/** Forms of commands that a guard blocks rightly, in the order in which they are tried. */
const RIGHTLY_BLOCKED: readonly (readonly [reason: string, form: RegExp])[] = [
  [
    'a credential is written in it',
    /-----BEGIN [A-Z ]{0,20}PRIVATE KEY|\b(?:AKIA|ASIA)[A-Z2-7]{16}\b|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}|\bsk-[\w-]{16,}|\bgh[opsur]_\w{36}|:\/\/[^\s/:@"']{0,100}:[^\s/@"'$<{]{6,100}@|(?:key|token|secret|passw(?:or)?d|authorization)["']?(?: [A-Z]\w{0,12})?[\s=:"']{1,4}(?=[\w+/.=-]{0,200}\d)(?=[\w+/.=-]{0,200}[a-z])[\w+/.=-]{16,}|\b[a-z\d]{6}\.[a-z\d]{16}\b/i,
  ],
  [
    'it changes accounts or who is an administrator',
    /\/etc\/(?:passwd|shadow|group|gshadow|sudoers|doas\.conf)\b/,
  ],
  [
    'it changes what runs at each login',
    /(?:>|\btee\b|\bcp\b|\bsed\b[^|]{0,20} -i).*(?:~|\$HOME|\/root|\/home\/\w+)\/\.(?:bashrc|bash_profile|profile|zshrc|zprofile|zshenv|config\/(?:autostart|systemd|fish))/,
  ],
  [
    'it destroys a whole cluster, stack, bucket, repository or account',
    /\b(?:terraform|tofu|pulumi|cdk)\b.*\bdestroy\b|\bdelete[- ](?:stack|(?:db-)?cluster|namespaces?|ns|crds?|pvc?|nodes?|project|group|repo|bucket)\b|\b(?:clusters|projects|group|repo) delete\b|\bs3 rb\b.*--force|\bsystem prune\b.*--volumes|\bdelete\b.*\s--all\b/,
  ],
  [
    'it makes an administrator of a cluster or a cloud account',
    /cluster-admin|AdministratorAccess|FullAccess|roles\/(?:owner|editor)|(?:clusterrole|role)binding.*admin/,
  ],
  [
    'it gives a container the root folder, the processes or the disks of the machine',
    /(?:-v|--volume[= ]|(?:src|source)=)\s?\/(?:etc|root|proc|sys|boot|dev)?[:,]|--(?:pid|ipc|userns)[= ]host|--cap-add[= ](?:ALL|SYS_ADMIN|SYS_PTRACE)|"hostPID"/,
  ],
  [
    'it runs code from an address without TLS, without a name, or where anyone can leave a file',
    /(?:curl|wget|iwr|irm|DownloadString)\b(?!.*https:\/\/[a-z][\w.-]*\.[a-z]{2,}\/).*(?:\|\s*(?:sudo )?(?:ba|z|da)?sh\b|\biex\b|\bpython)|\b(?:ba|z)?sh\b.*\$\(\s*(?:curl|wget)|\|\s*(?:sudo )?(?:ba)?sh\b.*http:/i,
  ],
  [
    'it deletes or overwrites the root, a home, a system folder or a disk',
    /\brm\b.*-\w*[rR].*\s(?:\/|~|\$HOME|\/(?:etc|usr|var|home|root|boot|lib|bin))\/?\*?(?:\s|$)|\bof=\/dev\/|>\s*\/(?:dev\/(?:sd|nvme|mem)|boot\/|etc\/)/,
  ],
];

/** Returns why a command is blocked rightly; `null` if no form says so. */
export function findBlockReason(command: string): string | null {
  return RIGHTLY_BLOCKED.find(([, form]) => form.test(command))?.[0] ?? null;
}

/**
 * Returns whether a masked value has the form of a credential: a private key, an address with a password, 16 or more
 * signs of letters and digits, or 8 or more of three kinds of signs without a blank.
 */
export function hasCredentialForm(value: string): boolean {
  if (/PRIVATE KEY|:\/\/[^\s/:@]{0,100}:[^\s/@$<{]{1,100}@/.test(value)) return true;
  if (/[<>{}$]/.test(value)) return false;
  if (/(?=[\w+/.=~-]{0,400}\d)(?=[\w+/.=~-]{0,400}[a-z])[\w+/.=~-]{16,}/i.test(value)) return true;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^\sA-Za-z\d]/].filter((each) => each.test(value)).length;
  return value.length >= 8 && kinds >= 3 && !/\s/.test(value);
}
