import { hasFlag, isHarmlessCall, operandsOf, textOf } from '../../shell/options.ts';
import type { Command } from '../../shell/syntax.ts';
import { isLogPath, isStartupPath } from './paths.ts';
import type { CommandRule } from './rule.ts';

const GUARDS =
  /(?:rsyslog|syslog|auditd|audisp|journald|falco|osquery|wazuh|ossec|crowdstrike|falcon|cbdaemon|cbagent|carbonblack|sentinel|mdatp|defend|clamav|clamd|apparmor|selinux|firewalld|ufw|iptables|nftables|fail2ban|auditbeat|filebeat|packetbeat|splunk|sysmon|tanium|snort|suricata|antivir|mcafee|esets?|sophos|cylance|opendns|littlesnitch|santa|watchdog|cron|crond|td-agent|datadog|newrelic|haproxy|nginx|traefik|apache2?|httpd|envoy|postgres\w*|mysqld?|mariadb|redis|docker|containerd|kubelet|sshd?|network\w*|pf)\b/i;

/** Staying, hiding the traces, and switching guards off. */
export const persistence: readonly CommandRule[] = [
  {
    id: 'persistence.startup_file',
    tag: 'dangerous.persistence',
    severity: 'high',
    programs: '*',
    description: 'Writes to a file that decides what runs later, who may log in, or what is trusted.',
    safer: 'echo hello >> notes.txt',
    saw: (command) => writtenPaths(command).some(isStartupPath),
    hits: [
      'echo x >> ~/.bashrc',
      'cat > /etc/systemd/system/a.service <<EOF\nx\nEOF',
      'echo k >> ~/.ssh/authorized_keys',
      'cp a /etc/cron.d/a',
      "sed -i '1s/^/x/' /etc/pam.d/su",
      'tee -a /etc/crontab',
    ],
    misses: [
      'cat ~/.bashrc',
      'grep x /etc/crontab',
      'echo hello > out.txt',
      "sed -n '1p' /etc/pam.d/su",
      'cp /etc/hosts .',
    ],
  },
  {
    id: 'persistence.takeover_file',
    tag: 'dangerous.persistence',
    severity: 'critical',
    programs: '*',
    description:
      'Writes to the file of accounts, of rights, of trusted keys or of libraries that all programs load.',
    safer: 'cat notes.txt',
    saw: (command) =>
      writtenPaths(command).some((path) =>
        /^\/etc\/(?:ld\.so\.preload|sudoers(?:\.d\/.*)?|passwd|shadow|pam\.d\/.*)$|^\/usr\/local\/etc\/sudoers|^\/root\/\.ssh\/authorized_keys/.test(
          path,
        ),
      ),
    hits: [
      "sudo sh -c 'echo /tmp/a.so > /etc/ld.so.preload'",
      'echo "x ALL=(ALL) NOPASSWD:ALL" >> /etc/sudoers',
      'echo "x::0:0::/:/bin/sh" >> /etc/passwd',
    ],
    misses: ['cat /etc/sudoers.dist', 'ls /etc/sudoers.d', 'echo sudoers'],
  },
  {
    id: 'persistence.schedule',
    tag: 'dangerous.persistence',
    severity: 'high',
    programs: 'crontab at batch schtasks systemd-run register-scheduledtask launchctl anacron',
    description: 'Makes something run later or again and again.',
    safer: 'crontab -l',
    saw: schedules,
    hits: [
      "echo '* * * * * x' | crontab -",
      'crontab evil.txt',
      'at now + 1 minute -f /tmp/p',
      'launchctl load ~/Library/LaunchAgents/a.plist',
      'schtasks /create /tn a /tr b',
      'crontab -r',
    ],
    misses: ['crontab -l', 'atq', 'launchctl list', 'schtasks /query', 'crontab --help'],
  },
  {
    id: 'persistence.service',
    tag: 'dangerous.persistence',
    severity: 'medium',
    programs:
      'systemctl service chkconfig update-rc.d rc-update sysrc sc new-service launchctl initctl defaults',
    description: 'Sets up, starts or changes a service that stays.',
    safer: 'systemctl status nginx',
    saw: (command) => {
      const { name } = command;
      const text = textOf(command);
      if (name === 'systemctl')
        return / (?:enable|daemon-reload|link|edit|set-default|mask|isolate|unmask) /.test(text);
      if (name === 'sc') return /^ (?:\\\\\S+ )?(?:create|config|sdset|failure|delete) /i.test(text);
      if (name === 'launchctl')
        return / (?:load|submit|bootstrap|enable|unload|bootout|remove|disable) /.test(text);
      if (name === 'defaults')
        return / write .*(?:LoginHook|LogoutHook|loginwindow|finder|alf|SoftwareUpdate|Gatekeeper)/i.test(
          text,
        );
      if (name === 'service') return false;
      return name === 'new-service' || / (?:on|enable|add|defaults|\w+_enable=)/i.test(text);
    },
    hits: [
      'systemctl enable backdoor',
      'systemctl daemon-reload',
      'sc create x binPath= y',
      'sudo defaults write com.apple.loginwindow LoginHook /x',
    ],
    misses: [
      'systemctl status nginx',
      'systemctl restart app',
      'sc query',
      'service nginx status',
      'defaults read',
    ],
  },
  {
    id: 'log_tampering.wipe',
    tag: 'dangerous.log_tampering',
    severity: 'high',
    programs: '*',
    description: 'Empties, deletes or changes logs or the history of what was typed.',
    safer: 'tail -n 50 app.log',
    saw: wipesLogs,
    hits: [
      'history -c',
      'unset HISTFILE',
      'export HISTSIZE=0',
      '> /var/log/syslog',
      'ln -sf /dev/null ~/.bash_history',
      'rm ~/.bash_history',
      'journalctl --vacuum-time=1s',
      'auditctl -e 0',
      'truncate -s 0 /var/log/auth.log',
    ],
    misses: [
      'history',
      'tail -f /var/log/syslog',
      'export HISTSIZE=10000',
      'cat ~/notes',
      'journalctl -u app',
    ],
  },
  {
    id: 'log_tampering.times',
    tag: 'dangerous.log_tampering',
    severity: 'medium',
    programs: 'touch setfile date timedatectl timestomp',
    description: 'Gives files another time or the machine another clock, so that traces do not fit.',
    safer: 'touch notes.txt',
    saw: (command) => {
      if (isHarmlessCall(command)) return false;
      if (command.name === 'touch') return hasFlag(command, '-r', '-t', '-d', '--reference', '--date');
      if (command.name === 'date')
        return (
          hasFlag(command, '-s', '--set') ||
          operandsOf(command).some((text) => /^\d{8,12}(?:\.\d\d)?$/.test(text))
        );
      return command.name === 'timedatectl'
        ? operandsOf(command).some((text) => /^set-/.test(text))
        : command.words.length > 0;
    },
    hits: ['touch -r /bin/ls a', 'touch -t 197001010000.00 a', 'date -s "2001-01-01"'],
    misses: ['touch a', 'date -u', 'date +%s', 'touch .keep'],
  },
  {
    id: 'system.guards_off',
    tag: 'dangerous.system',
    severity: 'high',
    programs:
      'systemctl service pkill killall kill ufw iptables ip6tables nft firewall-cmd pfctl setenforce launchctl mdatp sc net stop-service set-mppreference auditctl swapoff tmutil sysctl nginx haproxy netsh remove-service chkconfig apachectl initctl taskkill stop-process wevtutil fltmc',
    description: 'Stops a guard, a log, a firewall or a service that others rely on.',
    safer: 'systemctl status nginx',
    saw: stopsGuard,
    hits: [
      'systemctl stop auditd',
      'pkill -9 -f falco',
      'iptables -F',
      'ufw disable',
      'service nginx stop',
      'sudo mdatp config real-time-protection --value disabled',
      'nginx -s quit',
    ],
    misses: ['systemctl status auditd', 'pkill node', 'iptables -L', 'ufw status', 'kill 1234', 'nginx -t'],
  },
  {
    id: 'system.stop',
    tag: 'dangerous.system',
    severity: 'high',
    programs: 'shutdown reboot halt poweroff init telinit stop-computer restart-computer systemctl',
    description: 'Stops or restarts the machine.',
    safer: 'uptime',
    saw: (command) => {
      const operands = operandsOf(command);
      if (isHarmlessCall(command)) return false;
      if (command.name === 'systemctl')
        return operands.some((text) =>
          /^(?:poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue)$/.test(text),
        );
      if (/init$/.test(command.name)) return operands.some((text) => /^[016s]$/i.test(text));
      return !hasFlag(command, '-c') && !operands.some((text) => /^\/a$/i.test(text));
    },
    hits: ['shutdown -h now', 'reboot', 'init 0', 'systemctl poweroff'],
    misses: ['shutdown -c', 'npm init', 'last reboot', 'systemctl status'],
  },
  {
    id: 'system.exhaust',
    tag: 'dangerous.system',
    severity: 'critical',
    programs: '*',
    description: 'Starts itself again and again until the machine stands still.',
    safer: 'uptime',
    saw: ({ is_function, name, previous }) => is_function && previous !== null && previous.name === name,
    hits: [':(){ :|:& };:', 'f(){ f|f& };f'],
    misses: ['echo ":(){ :|:& };:" | wc -c', 'f(){ ls; }; f', 'cat a | cat'],
  },
  {
    id: 'system.flood',
    tag: 'dangerous.system',
    severity: 'medium',
    programs: 'yes stress stress-ng xmrig minerd cpuminer kill killall',
    description: 'Uses up the machine, or ends all processes.',
    safer: 'uptime',
    saw: (command) => {
      if (command.name === 'yes')
        return command.redirections.some(({ target }) => target === '/dev/null') && !command.feeds_pipe;
      if (command.name === 'kill')
        return (
          operandsOf(command).includes('-1') || command.words.some(({ text }, at) => at > 0 && text === '-1')
        );
      if (command.name === 'killall') return hasFlag(command, '-9', '-KILL', '-u');
      return command.words.length > 0 && !isHarmlessCall(command);
    },
    hits: ['yes > /dev/null', 'xmrig -o pool', 'kill -9 -1'],
    misses: ['yes | apt install x', 'kill 1234', 'killall --help'],
  },
  {
    id: 'supply_chain.install',
    tag: 'dangerous.supply_chain',
    severity: 'low',
    programs:
      'npm pnpm yarn bun pip pip3 pipx gem cargo go brew apt apt-get dnf yum snap uv easy_install python python3 sudo code',
    description:
      'Installs for the whole machine, from a foreign index, from an address, or without the checks.',
    safer: 'npm ci',
    saw: installsOddly,
    hits: [
      'npm install -g x',
      'pip install --index-url http://x.test/simple a',
      'pip install git+https://x.test/a',
      'npm install http://x.test/a.tgz',
      'pip install --break-system-packages a',
      'apt-get install --allow-unauthenticated x',
    ],
    misses: [
      'npm ci',
      'npm install',
      'pip install -r requirements.txt',
      'apt-get update',
      'npm install left-pad',
    ],
  },
  {
    id: 'supply_chain.publish',
    tag: 'dangerous.supply_chain',
    severity: 'medium',
    programs:
      'npm pnpm yarn cargo gem twine poetry mvn mvnw gradle gradlew docker hatch flit uv dotnet nuget helm bun vsce',
    description: 'Publishes a package, or takes one back, for everyone who uses it.',
    safer: 'npm pack',
    saw: (command) =>
      !isHarmlessCall(command) &&
      operandsOf(command)
        .slice(0, 3)
        .some(
          (text) =>
            /^(?:publish|unpublish|deprecate|yank|deploy|release:perform|release:release|publish\w*ToMaven\w*|publishPlugins|upload)$/.test(
              text,
            ) &&
            command.name !== 'docker' &&
            (command.name !== 'helm' || text !== 'deploy') &&
            !(text === 'deploy' && !/^mvnw?$/.test(command.name)) &&
            !(text === 'upload' && command.name !== 'twine'),
        ),
    hits: [
      'npm publish',
      'cargo yank --vers 1.0.0 x',
      'mvn deploy',
      './gradlew publish',
      'twine upload dist/*',
    ],
    misses: [
      'npm pack',
      'npm run publish-docs',
      'npm publish --dry-run',
      'mvn test',
      'cargo build --release',
    ],
  },
];

/** Where a command writes: redirections, the target of `cp`, `tee`, `sed -i` and their like. */
function writtenPaths(command: Command): readonly string[] {
  const { name, redirections } = command;
  const paths = redirections
    .filter(({ operator }) => operator.includes('>') && operator !== '>&')
    .map(({ target }) => target);
  const operands = operandsOf(command).filter((text) => text.length < 400);
  if (
    name === 'cp' ||
    name === 'mv' ||
    name === 'install' ||
    name === 'ln' ||
    name === 'gcp' ||
    name === 'copy'
  )
    paths.push(operands.at(-1) ?? '');
  else if (name === 'tee' || name === 'touch' || name === 'visudo') paths.push(...operands);
  else if (name === 'sed' && command.words.some(({ text }) => /^-[a-zA-Z]*i|^--in-place/.test(text)))
    paths.push(...operands.slice(1));
  else if (name === 'dd')
    paths.push(...operands.flatMap((text) => (text.startsWith('of=') ? text.slice(3) : [])));
  else if (name === 'curl' || name === 'wget')
    paths.push(
      ...command.words.flatMap(({ text }, at) =>
        /^(?:-o|-O|--output)$/.test(text) ? (command.words[at + 1]?.text ?? []) : [],
      ),
    );
  return paths;
}

function schedules(command: Command): boolean {
  const { name } = command;
  const text = textOf(command);
  if (isHarmlessCall(command)) return false;
  if (name === 'crontab')
    return (
      !hasFlag(command, '-l', '-V') &&
      (command.words.length > 0 || command.previous !== null || command.redirections.length > 0)
    );
  if (name === 'at')
    return (
      command.words.length > 0 &&
      !hasFlag(command, '-l', '-c', '-V') &&
      (/ (?:now|\d|noon|midnight|tomorrow|teatime|-f )/.test(text) || command.previous !== null)
    );
  if (name === 'batch') return command.previous !== null;
  if (name === 'launchctl') return / (?:load|submit|bootstrap) /.test(text);
  if (name === 'schtasks') return /\/(?:create|change|delete|run)/i.test(text);
  return command.words.length > 0;
}

function wipesLogs(command: Command): boolean {
  const { name, assignments, words, redirections } = command;
  if (
    redirections.some(
      ({ operator, target }) =>
        (operator === '>' || operator === '>|' || operator === '&>') && isLogPath(target),
    )
  )
    return true;
  const pairs = [
    ...assignments.map((pair) => `${pair.name}=${pair.value}`),
    ...(name === 'export' || name === 'set' || name === 'declare' ? words.map(({ text }) => text) : []),
  ];
  if (
    pairs.some((text) =>
      /^(?:HISTFILE=(?:\/dev\/null)?|HIST(?:FILE)?SIZE=0|HISTCONTROL=ignore(?:both|space)|HISTIGNORE=.*)$/.test(
        text,
      ),
    )
  )
    return true;
  const operands = operandsOf(command);
  if (name === 'history') return hasFlag(command, '-c', '-w', '-d', '-r', '-p');
  if (name === 'unset') return operands.some((text) => /^HIST/.test(text));
  if (name === 'set' || name === 'shopt')
    return /(?:\+o history|-uo? histappend|-u cmdhist)/.test(textOf(command));
  if (name === 'journalctl') return words.some(({ text }) => /^--(?:vacuum|rotate|flush)/.test(text));
  if (name === 'auditctl') return hasFlag(command, '-D', '-e');
  if (name === 'dmesg') return hasFlag(command, '-c', '-C');
  if (name === 'logrotate') return hasFlag(command, '-f');
  if (name === 'log') return operands[0] === 'erase';
  if (/^(?:rm|ln|truncate|shred|unlink|srm|mv|sed|tee|chattr|cp|chmod)$/.test(name))
    return (
      (name !== 'cp' || operands[0] === '/dev/null') &&
      (name !== 'sed' || hasFlag(command, '-i')) &&
      operands.some((path) => isLogPath(path)) &&
      !isHarmlessCall(command)
    );
  return name === 'utmpdump' || name === 'logtamper';
}

function stopsGuard(command: Command): boolean {
  const { name } = command;
  const text = textOf(command);
  if (isHarmlessCall(command)) return false;
  if (name === 'systemctl' || name === 'service' || name === 'chkconfig' || name === 'initctl')
    return (
      / (?:stop|disable|mask|kill|off) /.test(text) && (GUARDS.test(text) || / (?:disable|mask) /.test(text))
    );
  if (/^(?:pkill|killall|kill|taskkill|stop-process)$/.test(name))
    return GUARDS.test(text) || / (?:-SIGTERM|-9|-KILL) \$\(\)/.test(text);
  if (name === 'ufw') return / (?:disable|reset) /.test(text);
  if (name === 'iptables' || name === 'ip6tables') return / (?:-F|--flush|-X|-P \w+ ACCEPT|-D) /.test(text);
  if (name === 'nft') return / (?:flush|delete) /.test(text);
  if (name === 'pfctl') return / -(?:d|F|a) /.test(text);
  if (name === 'launchctl') return / (?:unload|bootout|remove|disable|stop) /.test(text);
  if (name === 'nginx' || name === 'haproxy' || name === 'apachectl')
    return / (?:-s ?(?:stop|quit)|-sf|-st|stop|graceful-stop) /.test(text);
  if (name === 'sysctl')
    return / (?:-w .*(?:randomize_va_space=0|ip_forward=1|kptr_restrict=0|core_pattern=))/.test(text);
  if (name === 'tmutil') return / (?:disable|delete\w*) /.test(text);
  if (name === 'netsh') return / (?:advfirewall|firewall) .*(?:off|delete|disable)/i.test(text);
  if (name === 'net' || name === 'sc') return /^ (?:stop|delete|config) /i.test(text);
  if (name === 'fltmc') return / unload /i.test(text);
  if (name === 'wevtutil') return / (?:cl|clear-log|sl) /i.test(text);
  if (name === 'swapoff') return / -a /.test(text);
  return name === 'mdatp' || name === 'auditctl'
    ? /disabled| -e 0 | -D /.test(text)
    : /^(?:stop-service|set-mppreference|remove-service|firewall-cmd|setenforce)$/.test(name) &&
        (name !== 'firewall-cmd' || /--(?:remove|panic)/.test(text));
}

function installsOddly(command: Command): boolean {
  const text = textOf(command);
  if (isHarmlessCall(command) || !/ (?:install|i|add|global|get) /.test(text)) return false;
  if (/^(?:npm|pnpm|yarn|bun)$/.test(command.name) && / (?:-g|--global|global add) /.test(text)) return true;
  if (
    / (?:--registry|--index-url|--extra-index-url|-i|--find-links|--trusted-host)[= ]\s*https?:\/\/(?!pypi\.org|registry\.npmjs\.org|test\.pypi\.org)/.test(
      text,
    )
  )
    return true;
  if (
    / (?:git\+)?https?:\/\/\S+(?:\.tgz|\.tar\.gz|\.zip|\.whl|\.git|\/)?\S* /.test(text) &&
    /^(?:npm|pnpm|yarn|pip3?|gem|pipx|uv)$/.test(command.name)
  )
    return true;
  return / (?:--break-system-packages|--allow-unauthenticated|--no-gpg-check|--nogpgcheck|--force-yes|--unsafe-perm|--install-extension) /.test(
    text,
  );
}
