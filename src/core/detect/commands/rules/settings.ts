import { isStartupPath } from '../../facts/command-paths.ts';
import { isHarmlessCall, joinWords, listOperands } from '../../shell/options.ts';
import type { CommandRule } from './rule.ts';

/** Rules for settings of macOS and Linux that give control of a machine away permanently, and for code in their places. */
export const settingsRules: readonly CommandRule[] = [
  {
    id: 'persistence.mac_settings',
    tag: 'dangerous.persistence',
    severity: 'high',
    programs: 'tccutil systemsetup kickstart nvram profiles plistbuddy plutil sqlite3 sfltool',
    description:
      'Changes what macOS starts, whom it admits from outside, or which programs can read private data.',
    safer: 'systemsetup -getremotelogin',
    saw: (command) => {
      const text = joinWords(command);
      if (isHarmlessCall(command)) return false;
      switch (command.name) {
        case 'tccutil':
          return / (?:reset|insert) /.test(text);
        case 'systemsetup':
          return / -set(?:remotelogin|remoteappleevents) on /i.test(text);
        case 'kickstart':
          return / -(?:activate|configure) /.test(text);
        case 'nvram':
          return / (?:boot-args=|-d boot-args|csr-active-config)/.test(text);
        case 'profiles':
          return / (?:install|-I|renew) /.test(text);
        case 'sqlite3':
          return /TCC\.db/.test(text) && /\b(?:insert|update|replace|delete)\b/i.test(text);
        case 'sfltool':
          return / (?:add-item|resetbtm|resetlist) /.test(text);
        default:
          return (
            (command.name === 'plistbuddy' ? /\b(?:add|set|merge|import)\b/i : / -(?:insert|replace) /i).test(
              text,
            ) && listOperands(command).some(isStartupPath)
          );
      }
    },
    hits: [
      'sudo systemsetup -setremotelogin on',
      '/usr/libexec/PlistBuddy -c "Add :Label string a" ~/Library/LaunchAgents/a.plist',
      'sudo nvram boot-args="amfi_get_out_of_my_way=1"',
      'tccutil reset All',
      'profiles install -path a.mobileconfig',
    ],
    misses: [
      'systemsetup -getremotelogin',
      '/usr/libexec/PlistBuddy -c "Set :CFBundleVersion 2" app/Info.plist',
      'nvram -p',
      'sqlite3 app.db "insert into a values (1)"',
      'profiles list',
    ],
  },
  {
    id: 'network.redirect',
    tag: 'dangerous.network',
    severity: 'medium',
    programs: 'networksetup ip iptables ip6tables',
    description: 'Sends the traffic of the machine through another one, or listens to that of others.',
    safer: 'networksetup -getwebproxy Wi-Fi',
    saw: (command) => {
      const text = joinWords(command);
      if (command.name === 'networksetup')
        return (
          / -set(?:web|secureweb|socksfirewall|ftp|streaming|auto)proxy(?:url)? | -setdnsservers /i.test(
            text,
          ) && !/ (?:off|empty) $/i.test(text)
        );
      if (command.name === 'ip') return / link set .*promisc on /.test(text);
      return (
        / -t nat /.test(text) && / (?:-A|-I) PREROUTING /.test(text) && / -j (?:REDIRECT|DNAT) /.test(text)
      );
    },
    hits: [
      'networksetup -setwebproxy Wi-Fi 10.0.0.5 8080',
      'ip link set eth0 promisc on',
      'iptables -t nat -A PREROUTING -p tcp --dport 80 -j REDIRECT --to-port 8080',
    ],
    misses: [
      'networksetup -getwebproxy Wi-Fi',
      'ip link set eth0 up',
      'iptables -t nat -L',
      'networksetup -setdnsservers Wi-Fi empty',
    ],
  },
  {
    id: 'system.kernel_guards',
    tag: 'dangerous.system',
    severity: 'high',
    programs: 'sysctl echo printf tee',
    description: 'Lets programs read the memory of others, or switches off another guard of the kernel.',
    safer: 'sysctl kernel.yama.ptrace_scope',
    saw: (command) =>
      command.name === 'sysctl'
        ? /(?:ptrace_scope|kptr_restrict|dmesg_restrict|randomize_va_space|unprivileged_bpf_disabled|modules_disabled|perf_event_paranoid)=(?:0|-1)\b|(?:core_pattern|kernel\.modprobe)=\S/.test(
            joinWords(command),
          )
        : [...listOperands(command), ...command.redirections.map(({ target }) => target)].some((path) =>
            /^\/proc\/sys\/kernel\/(?:yama\/ptrace_scope|randomize_va_space|kptr_restrict|core_pattern|modprobe|modules_disabled)$/.test(
              path,
            ),
          ),
    hits: [
      'sysctl -w kernel.yama.ptrace_scope=0',
      'echo 0 > /proc/sys/kernel/randomize_va_space',
      'echo "|/tmp/x" | tee /proc/sys/kernel/core_pattern',
    ],
    misses: ['sysctl kernel.yama.ptrace_scope', 'sysctl -w vm.swappiness=10', 'echo ptrace_scope=0'],
  },
  {
    id: 'persistence.web_shell',
    tag: 'dangerous.persistence',
    severity: 'critical',
    programs: 'echo printf cat tee set-content add-content out-file',
    description: 'Writes a page that runs what a visitor of the web server sends.',
    safer: 'echo "<?php phpinfo();" > info.php',
    saw: (command) =>
      (command.redirections.some(({ operator, target }) => operator[0] === '>' && !PLAIN_TEXT.test(target)) ||
        /^(?:tee|.*-content|out-file)$/.test(command.name) ||
        command.feeds_pipe) &&
      [...command.words.map(({ text }) => text), ...command.redirections.map(({ target }) => target)].some(
        (text) => text.length < 20_000 && WEB_SHELL.test(text),
      ),
    hits: [
      'echo \'<?php system($_GET["c"]); ?>\' > /var/www/html/a.php',
      'echo \'<?php @eval($_SERVER["HTTP_X_CODE"]); ?>\' > a.php',
      'cat > a.jsp <<\'EOF\'\n<% Runtime.getRuntime().exec(request.getParameter("c")); %>\nEOF',
    ],
    misses: [
      'echo "<?php phpinfo();" > info.php',
      'echo \'<?php system($_GET["c"]); ?>\'',
      'echo "exec" > a.php',
      'echo \'<?php curl_exec($ch, $_POST["id"]); $db->exec($_GET["q"]); ?>\' > a.php',
      'echo \'<?php exec("cd {$_SERVER["DOCUMENT_ROOT"]} && git pull"); ?>\' > a.php',
    ],
  },
  {
    id: 'persistence.shell_trap',
    tag: 'dangerous.persistence',
    severity: 'medium',
    programs: 'trap alias',
    description:
      'Records each typed command, or puts another program behind the name of one that asks for a password.',
    safer: "trap 'rm -f a.tmp' EXIT",
    saw: (command) => {
      const text = joinWords(command);
      return command.name === 'alias'
        ? /^ (?:sudo|su|ssh|passwd|doas)=(?!["']?(?:sudo|su|ssh|passwd|doas)\b)/.test(text)
        : / DEBUG /.test(text) && /BASH_COMMAND|history|fc -/.test(text);
    },
    hits: ["trap 'echo $BASH_COMMAND >> /tmp/.k' DEBUG", "alias sudo='/tmp/fakesudo'"],
    misses: ["trap 'rm -f a.tmp' EXIT", "alias sudo='sudo '", "trap 'echo hi' DEBUG", "alias ll='ls -l'"],
  },
];

/** A call that runs a command, with a value from the request. */
/** Files that no web server runs. */
const PLAIN_TEXT = /\.(?:txt|md|rst|log|json|ya?ml)$/i;

/** A function that runs a command or code, with a value that a visitor sends. Methods and longer names are others. */
const WEB_SHELL =
  /(?<![\w>:$])(?:system|(?:shell_|pcntl_)?exec|passthru|eval|assert|popen|proc_open)\s{0,3}\(\s{0,3}[^;)\n]{0,60}\$_(?:(?:GET|POST|REQUEST|COOKIE)\b|SERVER\s{0,2}\[\s{0,2}["']?(?:HTTP_|PHP_AUTH_|QUERY_STRING|REQUEST_URI|PATH_INFO))|getRuntime\(\)\.exec\(\s{0,3}request\.|eval\s{0,3}\(?\s{0,3}Request(?:\.(?:Item|Form|QueryString))?\s{0,2}[[(]|Process\.Start\([^;\n]{0,60}Request/;
