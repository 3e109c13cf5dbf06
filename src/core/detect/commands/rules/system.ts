import { hasFlag, isHarmlessCall, joinWords, listOperands } from '../../shell/options.ts';
import type { Command } from '../../shell/syntax.ts';
import type { CommandRule } from './rule.ts';

const GUARDS =
  /(?:rsyslog|syslog|auditd|audisp|journald|falco|osquery|wazuh|ossec|crowdstrike|falcon|cbdaemon|cbagent|carbonblack|sentinel|mdatp|defend|clamav|clamd|apparmor|selinux|firewalld|ufw|iptables|nftables|fail2ban|auditbeat|filebeat|packetbeat|splunk|sysmon|tanium|snort|suricata|antivir|mcafee|esets?|sophos|cylance|opendns|littlesnitch|santa|watchdog|cron|crond|td-agent|datadog|newrelic|haproxy|nginx|traefik|apache2?|httpd|envoy|postgres\w*|mysqld?|mariadb|redis|docker|containerd|kubelet|sshd?|network\w*|pf)\b/i;

/** Rules for disabling protection, stopping the machine, and exhausting it. */
export const systemRules: readonly CommandRule[] = [
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
      const operands = listOperands(command);
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
    id: 'system.package_removed',
    tag: 'dangerous.system',
    severity: 'medium',
    programs: 'apt apt-get aptitude dpkg dnf yum zypper pacman apk rpm pkg',
    description:
      'Removes a database server with its data, or a package without which the machine does not work.',
    safer: 'apt-get remove --simulate nodejs',
    saw: (command) =>
      !isHarmlessCall(command) &&
      !(command.name.startsWith('apt') && hasFlag(command, '-s')) &&
      REMOVES_BASE.test(joinWords(command)),
    hits: [
      'apt-get purge -y postgresql-14',
      'sudo dnf remove mariadb-server',
      'pacman -Rns linux',
      'apt remove sudo',
    ],
    misses: [
      'apt-get purge -y nodejs',
      'apt-get remove docker docker-engine containerd runc',
      'apt-get remove --simulate mysql-server',
      'apt-get install postgresql',
      'rpm -qa',
    ],
  },
  {
    id: 'system.exhaust',
    tag: 'dangerous.system',
    severity: 'critical',
    programs: '*',
    description: 'Starts itself again and again until the machine stops responding.',
    safer: 'uptime',
    saw: ({ is_function, name, previous, code }) =>
      (is_function && previous !== null && previous.name === name) ||
      (code !== null && /\bfork\b[()\s]{0,6}while\b|\bwhile\b[^;\n]{0,20}\bfork\b/.test(code)),
    hits: [':(){ :|:& };:', 'f(){ f|f& };f'],
    misses: ['echo ":(){ :|:& };:" | wc -c', 'f(){ ls; }; f', 'cat a | cat'],
  },
  {
    id: 'system.flood',
    tag: 'dangerous.system',
    severity: 'medium',
    programs: 'yes stress stress-ng xmrig minerd cpuminer kill killall pkill',
    description: 'Uses up the machine, or ends all processes.',
    safer: 'uptime',
    saw: (command) => {
      if (command.name === 'yes')
        return command.redirections.some(({ target }) => target === '/dev/null') && !command.feeds_pipe;
      if (command.name === 'kill')
        return (
          listOperands(command).includes('-1') ||
          command.words.some(({ text }, at) => at > 0 && text === '-1')
        );
      if (command.name === 'killall') return hasFlag(command, '-9', '-KILL', '-u');
      if (command.name === 'pkill') return hasFlag(command, '-u', '-U', '--euid', '--uid');
      return command.words.length > 0 && !isHarmlessCall(command);
    },
    hits: ['yes > /dev/null', 'xmrig -o pool', 'kill -9 -1'],
    misses: ['yes | apt install x', 'kill 1234', 'killall --help'],
  },
];

function stopsGuard(command: Command): boolean {
  const { name } = command;
  const text = joinWords(command);
  if (isHarmlessCall(command)) return false;
  if (name === 'systemctl' || name === 'service' || name === 'chkconfig' || name === 'initctl')
    return (
      / (?:stop|disable|mask|kill|off) /.test(text) && (GUARDS.test(text) || / (?:disable|mask) /.test(text))
    );
  if (/^(?:pkill|killall|kill|taskkill|stop-process)$/.test(name))
    return (
      GUARDS.test(text) || (name === 'kill' ? / -SIGTERM \$\(\)/ : / (?:-SIGTERM|-9|-KILL) \$\(\)/).test(text)
    );
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

const REMOVES_BASE =
  / (?:purge|remove|erase|autoremove|del|-R[a-z]{0,4}|-[er]|-P|--purge|--remove) (?:\S{1,80} ){0,20}(?:postgresql|mysql-server|mariadb-server|mongodb|redis-server|redis|couchdb|influxdb|elasticsearch|clickhouse-server|cassandra|linux|linux-image|kernel|openssh-server|sudo|systemd|libc6|glibc|musl|coreutils|bash|dpkg|network-manager|NetworkManager|grub[\w-]{0,10}|shim[\w-]{0,10})(?:-?\d[\w.*-]{0,40}|-(?:generic|org|core|amd64)|[*-]\S{0,40})? /;
