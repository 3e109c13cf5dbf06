import { memoize } from '../../../memoize.ts';
import { AGENT_TRACES } from '../../agent-traces.ts';
import {
  DECIDING_ROUTE,
  findOwnArguments,
  isDecidingCommand,
  SIGN_IN_LINK,
} from '../../guard/deciding-commands.ts';
import { listPathAccesses, type PathAccess } from '../../guard/path-access.ts';
import {
  findGroupOfFolder,
  findGuardedGroup,
  type GuardedGroup,
  type GuardView,
  isBroadGlob,
  isDocumentFolder,
  isStateRecord,
} from '../../guard/paths.ts';
import { isHarmlessCall, joinWords, listOperands } from '../../shell/options.ts';
import { computeOutput } from '../../shell/output.ts';
import type { Command } from '../../shell/syntax.ts';
import type { CommandRule } from './rule.ts';

/**
 * Rules for commands with which an agent would approve its own requests or disable the guard that watches it.
 */
export const guardRules: readonly CommandRule[] = [
  {
    id: 'guard.decide',
    tag: 'dangerous.guard',
    severity: 'critical',
    programs: '*',
    description: 'Has this service approve a request, hand out a credential, or loosen what it checks.',
    safer: 'customshouse approvals list',
    saw: runsDecidingCommand,
    hits: [
      'service approvals approve apr_0123456789abcdef01234567',
      './service token show operator',
      'npx customshouse setup claude-code --uninstall --yes',
      'node node_modules/customshouse/dist/entry/cli/bin.js skills remove coding-agent --yes --force',
      '/usr/local/bin/customshouse fingerprint add --rule x',
      'npm exec -- customshouse approvals deny apr_1',
      'curl -X POST http://127.0.0.1:8000/v1/approvals/apr_1/approve',
      'customshouse approvals grants revoke grt_1',
      'curl -X POST http://127.0.0.1:8000/v1/session/set-up -d "{}"',
      'journalctl -u service | grep svc_link_',
      'curl -H "x-service-user: admin" http://127.0.0.1:8000/v1/audit/query -d "{}"',
      'service init --force',
      'customshouse policy draft --from mcp tools.json --out=drafts/tools.yaml',
    ],
    misses: [
      'service approvals list',
      'service policy lint',
      'service policy draft --from traffic',
      'service init',
      './service logs --last 1h',
      'service nginx restart',
      'npx customshouse doctor',
      'service approvals approve --help',
      'service setup claude-code --dry-run',
      'curl http://127.0.0.1:8000/v1/approvals',
      'curl http://127.0.0.1:8000/v1/session',
      'echo service approvals approve apr_1',
    ],
  },
  {
    id: 'guard.state_folder',
    tag: 'dangerous.guard',
    severity: 'critical',
    programs: '*',
    description: 'Reads keys or tokens in the state folder of this service, or changes what is in it.',
    safer: 'customshouse logs',
    saw: (command, view) => touchesGroup(command, view, 'state'),
    hits: [
      'cat .service/operator-token',
      'rm -rf .service',
      'python3 -c "print(open(\'.service/memory-key\').read())"',
      'cp -r .service /tmp/x',
      'echo x > /srv/app/.service/hook.json',
      'sqlite3 .service/store.db "update approvals set status=1"',
      'cd .service && cat operator-token',
    ],
    misses: [
      'ls .service',
      'echo .service >> .gitignore',
      'grep .service .gitignore',
      'cat .service/daemon.log',
      'systemctl status app.service',
    ],
  },
  {
    id: 'guard.configuration',
    tag: 'dangerous.guard',
    severity: 'critical',
    programs: '*',
    description: 'Changes the configuration, a policy or another document of this service.',
    safer: 'customshouse policy lint',
    saw: (command, view) => touchesGroup(command, view, 'configuration'),
    hits: [
      'sed -i s/block/allow/ policies/coding-agent.yaml',
      'echo "policies: []" >> service.yaml',
      'cp /tmp/a.yaml ./service.yaml',
      'rm policies/own.yaml',
      'mv policies /tmp/away',
      "python3 -c \"open('service.yaml', 'w').write('')\"",
      'git checkout HEAD~3 -- policies/own.yaml',
      "find policies -name '*.yaml' -exec sed -i s/block/allow/ {} +",
    ],
    misses: [
      'cat policies/coding-agent.yaml',
      'sed -n 1,20p service.yaml',
      'git diff policies/own.yaml',
      'git add policies/own.yaml',
      'kubectl apply -f k8s/service.yaml',
      'sed -i s/80/8080/ k8s/service.yaml',
      'cp service.yaml /tmp/backup.yaml',
      'prettier --write "**/*.{json,yaml,yml}"',
      "find . -name '*.yaml' -exec sed -i s/a/b/ {} +",
    ],
  },
  {
    id: 'guard.agent_settings',
    tag: 'dangerous.guard',
    severity: 'critical',
    programs: '*',
    description: 'Changes the settings of a coding agent in which its hooks are.',
    safer: 'customshouse doctor',
    saw: (command, view) => touchesGroup(command, view, 'agent_settings'),
    hits: [
      `echo '{"disableAllHooks":true}' > .claude/settings.local.json`,
      'rm ~/.codex/hooks.json',
      'rm -rf ~/.claude',
      "sed -i '/hooks/d' .gemini/settings.json",
      'mv .cursor/hooks.json /tmp',
      'tee .github/hooks/customshouse.json',
    ],
    misses: [
      'cat .claude/settings.json',
      'ls ~/.claude',
      'echo x > .github/workflows/ci.yml',
      'rm .cursor/rules/a.mdc',
    ],
  },
  {
    id: 'guard.startup_file',
    tag: 'dangerous.guard',
    severity: 'critical',
    programs: '*',
    description: 'Changes what runs at each login of the user, or on a schedule, where no hook sees it.',
    safer: 'cat notes.txt',
    saw: (command, view) => changesSchedule(command) || touchesGroup(command, view, 'startup_file'),
    hits: [
      'echo x >> ~/.bashrc',
      'cp a ~/.config/autostart/a.desktop',
      'crontab evil.txt',
      'tee -a /home/ada/.zshrc',
    ],
    misses: ['cat ~/.bashrc', 'source ~/.profile', 'crontab -l', 'cp dotfiles/.zshrc dotfiles/.zshrc.bak'],
  },
  {
    id: 'guard.switch',
    tag: 'dangerous.guard',
    severity: 'critical',
    programs: '*',
    description:
      'Starts a coding agent without its hooks or questions, names other settings for it or this service, or disables the hooks of git.',
    safer: 'claude --version',
    saw: switchesGuardOff,
    hits: [
      'claude --dangerously-skip-permissions -p x',
      'codex --dangerously-bypass-approvals-and-sandbox exec x',
      `claude --settings '{"disableAllHooks":true}' -p x`,
      'CODEX_HOME=/tmp/x codex exec y',
      'gemini --yolo',
      'npx @anthropic-ai/claude-code --dangerously-skip-permissions',
      'export SERVICE_CONFIG=/tmp/x.yaml',
      'SERVICE_CONFIG=/tmp/x.yaml; export SERVICE_CONFIG',
      'fish -c "set -gx SERVICE_CONFIG /tmp/x.yaml"',
      'launchctl setenv SERVICE_CONFIG /tmp/x.yaml',
      'systemctl --user set-environment SERVICE_HOOK_DAEMON=off',
      '$env:SERVICE_CONFIG = "C:/x.yaml"',
      'SERVICE_TRUSTED_PLUGINS=/tmp service doctor',
      'env SERVICE_TRUSTED_PLUGINS=/tmp service doctor',
      'SERVICE_USER_TOKEN=eyJ claude -p x',
      'unset SERVICE_USER_TOKEN',
      'env -u SERVICE_TASK claude -p x',
      'git config core.hooksPath /dev/null',
      'git config --global core.hookspath ""',
    ],
    misses: [
      'claude -p "explain this"',
      'codex --version',
      'gemini -p x',
      'git log --yolo',
      'SERVICE_CONFIG=./service.yaml service validate',
      'export MY_SERVICE_CONFIG=/tmp/x.yaml',
      'declare -p SERVICE_CONFIG',
      'launchctl getenv SERVICE_CONFIG',
      '$env:SERVICE_CONFIG',
      'echo "$SERVICE_TASK"',
      'SERVICE_TASK=tsk_1 claude -p x',
      'unset MY_SERVICE_TASK',
      'git config core.hooksPath .githooks',
      'git config --get core.hooksPath',
      'git config --unset core.hooksPath',
    ],
  },
  {
    id: 'guard.stop',
    tag: 'dangerous.guard',
    severity: 'critical',
    programs:
      'pkill killall pgrep kill systemctl service rc-service launchctl docker podman npm pnpm yarn bun sc stop-service taskkill stop-process',
    description: 'Ends or uninstalls this service.',
    safer: 'customshouse doctor',
    saw: stopsService,
    hits: [
      'pkill -f service',
      'killall customshouse',
      'systemctl stop customshouse',
      'npm uninstall -g customshouse',
      'pkill -9 -f "service serve"',
    ],
    misses: [
      'pkill -f my-server',
      'systemctl stop nginx',
      'npm install -g customshouse',
      'systemctl status customshouse',
      'pgrep node',
    ],
  },
];

/** Returns whether a command accesses a group of guarded paths in a way that agents may not. */
function touchesGroup(command: Command, view: GuardView, group: GuardedGroup): boolean {
  return getForbiddenGroups(view)(command).has(group);
}

/** Returns the groups that a command accesses, found once for the rules of all groups. */
const getForbiddenGroups = memoize((view: GuardView) =>
  memoize(
    (command: Command): ReadonlySet<GuardedGroup | null> =>
      new Set(listPathAccesses(command).map((touch) => findForbiddenGroup(touch, view))),
  ),
);

/** Returns the guarded group for which an access to a path is forbidden; `null` if it is allowed. */
export function findForbiddenGroup({ path, use }: PathAccess, view: GuardView): GuardedGroup | null {
  const group = findGuardedGroup(path, view);
  if (group === 'state') return use === 'list' || (use === 'read' && isStateRecord(path)) ? null : group;
  if (use === 'remove') return group ?? findGroupOfFolder(path, view);
  if (use !== 'write' && use !== 'format') return null;
  // Ordinary work over many files may include guarded ones. Only globs that select guarded files, or little
  // else, are refused.
  if (group === null) return use === 'write' && isDocumentFolder(path, view) ? 'configuration' : null;
  return isBroadGlob(path, view, use) ? null : group;
}

/** Programs that send requests. */
const REQUESTS =
  /^(?:curl|wget|https?|httpie|xh|curlie|nc|ncat|netcat|socat|telnet|iwr|irm|invoke-webrequest|invoke-restmethod|aria2c|openssl|ab|hey|wrk)$/;

function runsDecidingCommand(command: Command): boolean {
  const words = findOwnArguments(command);
  if (words !== null && isDecidingCommand(words)) return true;
  const texts = command.words.map(({ text }) => text);
  // A sentence that contains the word is a text; one that searches for a link names no more than the link.
  const searched = texts.filter((text) => !/\s/.test(text));
  if ([command.code ?? '', ...searched].some((text) => SIGN_IN_LINK.test(text))) return true;
  const sent = REQUESTS.test(command.name) ? [...texts, computeOutput(command.previous) ?? ''] : [];
  // The header names a user of the console.
  if (sent.some((text) => /\bx-service-user\s*:/i.test(text))) return true;
  return [command.code ?? '', ...sent].some((text) => text.includes('/v1/') && DECIDING_ROUTE.test(text));
}

function changesSchedule(command: Command): boolean {
  if (command.name !== 'crontab' || isHarmlessCall(command)) return false;
  return (
    !command.words.some(({ text }) => text === '-l') &&
    (command.words.length > 0 || command.previous !== null)
  );
}

const AGENT = new RegExp(
  `^(?:${AGENT_TRACES.programs.map((name) => name.replace(/\*$/, '[a-z]+')).join('|')})$`,
);
/** The name of a package, with or without its scope and version. */
const AGENT_PACKAGE = new RegExp(
  `(?:^|/)(?:${[...AGENT_TRACES.packages, 'opencode'].map((name) => name.slice(name.indexOf('/') + 1)).join('|')})(?:@[\\w.^~-]+)?$`,
);
const SWITCH =
  /^(?:--dangerously[\w-]*|--allow-dangerously[\w-]*|--yolo|--no-hooks|--disable-hooks|--allow-all(?:-tools|-paths)?|--yes-always|--permission-mode=bypassPermissions|--approval-mode=yolo|--setting-sources(?:=.*)?|--bare|--skip-hooks)$/i;
const SWITCH_PAIR =
  / (?:--permission-mode bypassPermissions|--approval-mode yolo|(?:-c|--config) (?:features\.)?(?:hooks|codex_hooks)=false|--disable (?:hooks|codex_hooks)|--settings .{0,500}hooks)/i;
/** With this variable every command would run a project's plug-ins. */
const TRUST_VARIABLE = 'SERVICE_TRUSTED_PLUGINS';
const AGENT_HOME = new RegExp(
  `^(?:${[...AGENT_TRACES.home_variables, 'SERVICE_CONFIG', 'SERVICE_HOOK_DAEMON', 'SERVICE_USER_TOKEN', TRUST_VARIABLE].join('|')})$`,
);
/** Without these, an agent acts for another person, or without its task. */
const BOUNDS = /^(?:SERVICE_USER_TOKEN|SERVICE_TASK)$/;

/** Programs whose variables later commands see. */
const SETS_VARIABLES = /^(?:export|declare|typeset|set|setx|setenv|launchctl|systemctl)$/;

function setsHome({ name, words }: Command): boolean {
  if (words.some(({ text }) => /^-(?:n|p|np|pn)$/.test(text))) return false;
  return words.some(({ text }, at) => {
    const [variable, value] = text.split('=', 2);
    if (!AGENT_HOME.test(variable!)) return false;
    return value !== undefined || name === 'export' || at + 1 < words.length;
  });
}

/** Returns whether git stores a hooks folder that has no hooks. */
function disablesGitHooks(words: Command['words']): boolean {
  const at = words.findIndex(({ text }) => /^core\.hookspath$/i.test(text));
  const value = at < 0 ? undefined : words[at + 1]?.text;
  return value !== undefined && /^(?:\/dev\/null|nul|)$/i.test(value);
}

function switchesGuardOff(command: Command): boolean {
  const { name, words, assignments, within } = command;
  const isAgent = AGENT.test(name) || words.slice(0, 4).some(({ text }) => AGENT_PACKAGE.test(text));
  if (SETS_VARIABLES.test(name)) return setsHome(command);
  if (name === 'git') return disablesGitHooks(words);
  const unsets = name === 'unset' || (name === 'env' && words.some(({ text }) => AGENT.test(text)));
  if (unsets && words.some(({ text }) => BOUNDS.test(text.replace(/^(?:-u|--unset=)/, '')))) return true;
  const powershell = /^\$env:(\w{1,64})(=?)/.exec(name);
  if (powershell !== null && (powershell[2] === '=' || words[0]?.text === '='))
    return AGENT_HOME.test(powershell[1]!.toUpperCase());
  const pointsHome = (text: string) => AGENT_HOME.test(text.split('=', 1)[0]!) && text.includes('=');
  if (name === 'env' || within.includes('env')) {
    const sets = words.some(({ text }) => pointsHome(text));
    if (words.some(({ text }) => text.startsWith(`${TRUST_VARIABLE}=`))) return true;
    if (name === 'env' && sets && words.some(({ text }) => AGENT.test(text))) return true;
  }
  if (assignments.some((pair) => pair.name === TRUST_VARIABLE)) return true;
  if (!isAgent) return false;
  if (assignments.some((pair) => AGENT_HOME.test(pair.name))) return true;
  return words.some(({ text }) => SWITCH.test(text)) || SWITCH_PAIR.test(joinWords(command));
}

/** Names of this service in a list of processes, units or packages. */
const OWN_PROCESS =
  /^(?:\.\/)?(?:service|customshouse|agent-safety)(?: (?:serve|hook|mcp|-).*)?$|customshouse|agent-safety|entry\/cli\/(?:bin|main)|daemon-process|service\.ya?ml/i;
const OWN_UNIT = /^(?:(?:customshouse|agent-safety)[\w@-]*)(?:\.service)?$/i;

function stopsService(command: Command): boolean {
  const { name, words } = command;
  const operands = listOperands(command);
  if (isHarmlessCall(command)) return false;
  if (name === 'pkill' || name === 'killall' || name === 'taskkill' || name === 'stop-process')
    return operands.some((text) => OWN_PROCESS.test(text));
  if (name === 'pgrep') return command.feeds_pipe === true && operands.some((text) => OWN_PROCESS.test(text));
  if (name === 'kill')
    return words.some(({ text }) => /\bservice\b.*\b(?:serve|hook)|customshouse|agent-safety/.test(text));
  if (/^(?:npm|pnpm|yarn|bun)$/.test(name))
    return (
      operands.some((text) => /^(?:uninstall|un|unlink|remove|rm|r)$/.test(text)) &&
      operands.some((text) => /^(?:customshouse|agent-safety)(?:@.*)?$/.test(text))
    );
  const ends = operands.some((text) =>
    /^(?:stop|disable|mask|kill|restart|unload|bootout|remove|rm|delete)$/.test(text),
  );
  return ends && operands.some((text) => OWN_UNIT.test(text));
}
