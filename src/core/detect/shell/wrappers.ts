/**
 * Programs that run the command in their words, as data. A form says which words precede the command: sub-commands,
 * options with a value, operands.
 */
export interface Wrapper {
  /** Sub-commands, each one of several: `compose`, `exec|run`. */
  readonly path: readonly (readonly string[])[];
  /** Options with a value in the next word. */
  readonly takes_value: ReadonlySet<string>;
  /** Operands before the command: `timeout 5 rm`. */
  readonly skips: number;
  /** True if `NAME=value` can precede the command. */
  readonly has_assignments: boolean;
  /** The words that follow: one command, a script of all words, or a script in each word. */
  readonly holds: 'command' | 'script' | 'scripts';
}

/** `names | path | options with values | operands | what`: one form in each line, for several programs. */
const FORMS = `
sudo | | -u -g -h -p -C -r -t -U -D -T -R --user --group --host --chdir | 0 | assignments
doas | | -u -C | 0 | assignments
env | | -u -C -P --unset --chdir | 0 | assignments
cross-env cross-env-shell dotenvx | | -f -e | 0 | assignments
nohup setsid command builtin unbuffer busybox toybox coreutils start noglob nocorrect fakeroot firejail eatmydata rlwrap winpty cgexec wine64 wine torsocks torify proxychains proxychains4 shx dbus-launch | | -g --profile | 0 |
exec | | -a | 0 |
time | | -f -o | 0 |
nice | | -n --adjustment | 0 |
ionice | | -c -n -p | 0 |
numactl | | -N -C -m -i -p --membind --cpunodebind --physcpubind | 0 |
chrt taskset | | -T -P -D | 1 |
timeout gtimeout | | -k -s --signal --kill-after | 1 |
stdbuf | | -i -o -e --input --output --error | 0 |
chroot | | --userspec --groups | 1 |
unshare | | -R -w --root --wd --map-user --map-group --propagation | 0 |
bwrap proot systemd-nspawn | | -R -r -b -w -D -M --bind --ro-bind --dev --proc --chdir --setenv --root | 0 |
nsenter | | -t --target -S -G | 0 |
strace ltrace valgrind perf rr gdbserver | | -e -o -p -s -u -E -c --log-file | 0 |
perf | stat\\|record\\|trace | -e -o -p -r -c -F | 0 |
rr | record | | 0 |
watch | | -n --interval -d | 0 | script
hyperfine | | -w -r -m -M -L -P -i -n -N --warmup --runs --min-runs --max-runs --export-json --export-markdown --parameter-list --command-name | 0 | scripts
xargs | | -I -J -n -P -L -d -a -E -s --delimiter --max-args --max-procs --arg-file | 0 |
parallel | | -j -S -I -a -N --jobs --sshlogin --results --delay --colsep --tmpdir --joblog --workdir | 0 |
flock lockf | | -w -E -c --wait --timeout | 1 |
sem | | -j --id | 0 |
ssh autossh | | -i -p -l -o -F -J -L -R -D -b -c -E -m -W -M | 1 | script
mosh | | -p --ssh --server --client | 1 |
sshpass | | -p -f -e | 0 |
pdsh pssh parallel-ssh clush | | -w -h -H -l -g -x -R -f -t -A -i | 0 | script
systemd-run | | -p -u -M -H --unit --property --slice --uid --gid | 0 |
systemd-inhibit | | --what --who --why --mode | 0 |
systemd-cat dbus-run-session xvfb-run faketime catchsegv | | -t -n -s -e -f -p --server-args --server-num --config-file | 0 |
caffeinate | | -t -w | 0 |
arch setarch linux32 linux64 | | -arch | 0 |
gosu su-exec setpriv chpst envdir softlimit setuidgid | | -u -g -e -m --reuid --regid --ruid --inh-caps | 1 |
setpriv prlimit | | --reuid --regid --inh-caps -p | 0 |
pkexec run0 | | --user -u | 0 |
runuser | | -u -g -G -s --user --group --shell | 0 |
sg newgrp | | -c | 1 | script
wsl | | -d -u --distribution --user --cd | 0 |
npx bunx pnpx pnx | | -p --package -c --call | 0 |
uvx pipx | | --from --with -p --python --spec | 0 |
pipx | run | --spec --python | 0 |
npm | exec\\|x | -p --package -w --workspace --prefix -C -c --call | 0 |
npm | run\\|run-script | -w --workspace --prefix -C | 0 |
npm | explore | | 1 |
pnpm | | -C --dir --filter -F --filter-prod --workspace-concurrency | 0 |
pnpm | exec\\|dlx\\|x | -C --dir --filter -F --package | 0 |
pnpm | run\\|run-script | -C --dir --filter -F | 0 |
yarn yarnpkg | | --cwd | 0 |
yarn yarnpkg | exec\\|dlx\\|node | -p --package --cwd | 0 |
yarn yarnpkg | run | --cwd | 0 |
yarn yarnpkg | workspace | | 1 |
yarn yarnpkg | workspace | | 2 |
yarn yarnpkg | workspaces | --include --exclude --from --jobs -j | 1 |
bun | | --cwd --filter -F | 0 |
bun | x | -p --package | 0 |
bun | run | --cwd --filter -F | 0 |
corepack | | | 0 |
deno | run\\|x | --allow-read --config -c --import-map --env-file | 0 |
lerna nx rush turbo wsrun | exec\\|run-many | --scope --ignore --concurrency | 0 |
uv | run | -p --python --with --with-editable --extra --group --env-file --directory --project --package -m | 0 |
uv | tool | --from --with | 1 |
poetry pdm rye hatch pipenv pixi | run | -C --directory -P --project -e --env --environment --manifest-path | 0 |
conda mamba micromamba | run | -n -p --name --prefix --cwd | 0 |
bundle rbenv pyenv nodenv asdf jenv goenv mise rtx chruby-exec volta | exec\\|run\\|x\\|env | --node --npm -C --cd | 0 |
rvm | do | | 0 |
rvm | | | 2 |
nvm | exec\\|run | | 1 |
direnv | exec | | 1 |
dotenv dotenv-cli | | -e -f -v -p -c | 0 |
dotenv | run | -f -e | 0 |
op doppler infisical teller dotenvx envchain chamber aws-vault saml2aws aws-okta vaultenv summon | run\\|exec | --env-file --project --config -p -c --env --path --duration -d --region | 0 |
aws-vault chamber saml2aws aws-okta | exec | --duration -d --region -a | 1 |
sops | exec-env\\|exec-file | --input-type --output-type | 1 | script
nix | shell\\|develop\\|run | | 9 |
guix | shell\\|environment | | 9 |
devbox flox | run\\|activate | -c -d -r | 0 |
tmux | new-session\\|new\\|new-window\\|neww\\|split-window\\|splitw\\|respawn-pane\\|respawnp\\|respawn-window\\|run-shell\\|run\\|popup\\|display-popup | -s -n -c -t -x -y -e -F -f -l -p -L -S | 0 | script
tmux | send-keys\\|send | -t -N | 0 | script
tmux | if-shell\\|if | -t | 0 | scripts
screen | | -S -t -c -s -h -T -p | 0 |
screen | | -S -t -c -s -h -T -p -X | 0 | script
zellij | run\\|action | -n --name -d --direction --cwd | 0 |
docker podman nerdctl | exec | -u -w -e --user --workdir --env --env-file --detach-keys | 1 |
docker podman nerdctl | run\\|create | -v -w -e -p -u -l -h -m -c -a --volume --workdir --env --env-file --publish --user --name --network --net --entrypoint --label --hostname --memory --cpus --mount --platform --restart --add-host --device --gpus --cap-add --cap-drop --ulimit --log-driver --log-opt --dns --shm-size --tmpfs --pid --ipc --security-opt --pull --volumes-from --link --expose --cidfile | 1 |
docker podman nerdctl | container | -u -w -e --user --workdir --env | 2 |
docker podman nerdctl | compose | -f -p --file --project-name --profile --env-file | 2 |
docker podman nerdctl | compose ; exec\\|run | -f -p --file --project-name -u -w -e -T --user --workdir --env --index --entrypoint --name -v --volume | 1 |
docker-compose podman-compose | exec\\|run | -f -p --file --project-name -u -w -e --user --workdir --env --index --entrypoint --name -v --volume | 1 |
kubectl oc k3s k | exec\\|debug | -n -c -f --namespace --container --context --kubeconfig --image --target | 1 |
kubectl oc k3s k | run | -n --namespace --image --restart --context --overrides -l --labels --env | 1 |
crictl ctr | exec | --exec-id | 1 |
lxc incus | exec | --env --cwd --user --group --mode | 1 |
multipass | exec | | 1 |
limactl colima lima | shell\\|ssh | --workdir | 1 |
lima toolbox | run | -c --container -d --distro -r --release | 0 |
distrobox | enter | -n --name -e | 1 |
distrobox-enter | | -n --name -e | 0 |
distrobox-enter | | -n --name -e | 1 |
tini dumb-init catatonit chronic ifne trickle cpulimit aa-exec | | -p -e -c -r -l -u -d | 0 |
runcon | | -t -u -r -l | 1 |
machinectl | shell | -E --uid | 1 |
flatpak | run | --command --branch --arch | 1 |
flatpak-spawn | | --env --directory | 0 |
heroku dokku | run\\|ps:exec\\|enter | -a --app -r --remote -s --size | 0 | script
fly flyctl | ssh | -a --app -s | 1 |
watchexec reflex | | -w -e -i -f -s -d -r -g -G -R --exts --watch --ignore --filter | 0 |
entr | | | 0 |
concurrently npm-run-all run-p run-s start-server-and-test wireit mprocs | | -n -c -p -k -m --names --prefix --prefix-colors --max-processes --kill-others-on | 0 | scripts
git | bisect ; run | | 0 |
git | submodule ; foreach | | 0 | script
git | for-each-repo | --config | 0 |
repo | forall | -c -g -r | 0 | script
start-stop-daemon daemonize | | -x -p -u -g -c -n -s -d -k --exec --pidfile --user --group --chuid --name --signal --chdir --startas -a | 0 |
xterm konsole gnome-terminal alacritty kitty urxvt terminator foot st | | -T -n -geometry --title --working-directory --class -bg -fg | 0 |
nq ts tsp pueue batch fg disown coproc | | -g --group -L -l | 0 |
pueue | add | -g --group -l --label -w | 0 | script
nodemon | | -w -e -i -d --watch --ext --ignore --delay | 0 |
ansible ansible-console | | -i -m -a -u -e -l -f --module-name --args --inventory --limit | 9 |
salt salt-call salt-ssh | | -t -G -E -L | 2 | script
tox nox | | -e -c -s | 9 |
`;

interface Form {
  readonly wrapper: Wrapper;
}

function readForms(): ReadonlyMap<string, readonly Wrapper[]> {
  const forms = new Map<string, Wrapper[]>();
  for (const line of FORMS.split('\n')) {
    if (line === '') continue;
    const [names, path, values, skips, holds] = line.split(/(?<!\\) ?\|(?: |$)/).map((cell) => cell.trim());
    const form: Form['wrapper'] = {
      path: path === '' ? [] : path!.split(' ; ').map((step) => step.split('\\|')),
      takes_value: new Set(values!.split(' ').filter((flag) => flag !== '')),
      skips: Number(skips),
      has_assignments: holds === 'assignments',
      holds: holds === 'script' || holds === 'scripts' ? holds : 'command',
    };
    for (const name of names!.split(' ')) forms.set(name, [...(forms.get(name) ?? []), form]);
  }
  return forms;
}

export const WRAPPERS: ReadonlyMap<string, readonly Wrapper[]> = readForms();

/**
 * Commands of package managers themselves. Any other first word is a program, or a script of the package; a script without
 * arguments is not judged, because its name says nothing about it.
 */
const MANAGER_COMMANDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [
    [
      'pnpm',
      'add install i ci update up upgrade remove rm uninstall un unlink link ln import rebuild rb prune fetch patch patch-commit patch-remove audit list ls ll la outdated why licenses run run-script test t tst start stop restart exec dlx x create publish pack store root bin setup init deploy doctor config c get set env server self-update cache cat-file cat-index find-hash completion approve-builds ignored-builds recursive multi m dedupe help node version view whoami login logout',
    ],
    [
      'yarn yarnpkg',
      'add audit autoclean bin cache check config constraints create dedupe dlx exec explain generate-lock-entry global help import info init install licenses link list login logout node npm outdated owner pack patch patch-commit plugin policies prune publish rebuild remove run search set stage start stop tag team test unlink unplug up upgrade upgrade-interactive version versions why workspace workspaces',
    ],
    [
      'bun',
      'add a remove rm install i ci update outdated link unlink publish patch pm run test x exec repl create c init build upgrade completions why audit info',
    ],
    ['npm', ''],
  ].flatMap(([names, commands]) =>
    names!.split(' ').map((name) => [name, new Set(commands!.split(' '))] as const),
  ),
);

/** Programs that fetch a package and run its program, by the name of the package. */
const PACKAGE_RUNNERS = /^(?:npx|bunx|pnpx|pnx|npm|pnpm|yarn|yarnpkg|bun|deno|corepack|uvx|uv|pipx)$/;

/** Returns whether words after a package manager can be a program: the manager has no such command, and there are arguments. */
export function canBeProgram(manager: string, { path }: Wrapper, words: readonly string[]): boolean {
  const commands = MANAGER_COMMANDS.get(manager);
  if (commands === undefined || (path.length > 0 && !path[0]!.includes('run'))) return true;
  return words.length > 1 && (path.length > 0 || !commands.has(words[0]!));
}

/** Returns the program that a package runner runs: `npm:prisma@latest`, `alembic==1.13` and `@prisma/cli` name one. */
export function getPackageProgram(runner: string, written: string): string {
  if (!PACKAGE_RUNNERS.test(runner)) return written;
  const [, scope, name] =
    /^(?:npm:|jsr:)?(?:@([\w.-]+)\/)?([\w.-]+?)(?:\[[\w,.-]*\])?(?:(?:@|==|[<>~]=)[^/]*)?$/.exec(written) ??
    [];
  if (name === undefined) return written;
  return scope !== undefined && name === 'cli' ? scope : name;
}

/** Options whose value is a script (`names | options`), and options after which all words are a command (`-c...`). */
const SCRIPT_OPTIONS: readonly (readonly [names: string, options: string])[] = [
  ['su runuser script sg newgrp capsh setpriv', '-c --command'],
  ['npx npm pnpx bunx', '-c --call'],
  ['nix-shell', '--run --command'],
  ['vagrant gcloud', '-c --command'],
  ['fly flyctl', '-C --command'],
  ['flock', '-c --command'],
  ['ansible', '-a --args'],
  [
    'git',
    '-x --exec --extcmd --tree-filter --index-filter --msg-filter --env-filter --commit-filter --parent-filter --tag-name-filter --upload-pack --receive-pack -u --open-files-in-pager',
  ],
  ['nodemon', '-x --exec'],
  ['chokidar', '-c --command'],
  ['entr', '-s'],
  ['hyperfine', '-p --prepare -s --setup -c --cleanup'],
  [
    'tar bsdtar gtar',
    '--to-command --use-compress-program -I --rmt-command --rsh-command -F --info-script --new-volume-script --checkpoint-action',
  ],
  ['rsync', '-e --rsh --rsync-path'],
  ['scp sftp', '-S -D'],
  ['ssh autossh', '-o'],
  ['zip', '-TT --unzip-command'],
  ['man', '-P --pager -H --html'],
  ['sort', '--compress-program'],
  ['split', '--filter'],
  ['tcpdump', '-z'],
  ['watchman-make', '--run -t'],
  ['nc ncat netcat', '-c --sh-exec'],
  ['docker podman', '--health-cmd'],
  ['make gmake', '--eval'],
  ['apt apt-get dpkg', '-o --option --pre-invoke --post-invoke'],
  ['logsave pv strace', '-o'],
];
/** Options after which the rest is a command. */
const COMMAND_OPTIONS: readonly (readonly [names: string, options: string])[] = [
  ['nix guix', '-c --command --'],
  ['start-stop-daemon', '--exec -x --startas -a'],
  ['xterm konsole gnome-terminal alacritty kitty urxvt terminator foot st', '-e --execute -x --'],
  ['repo', '-c'],
  ['tox nox', '--'],
  ['docker podman nerdctl docker-compose kubectl oc', '--entrypoint --command'],
  ['tmux', '--'],
];

function indexByName(rows: readonly (readonly [string, string])[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const [names, options] of rows)
    for (const name of names.split(' ')) found.set(name, [...(found.get(name) ?? []), ...options.split(' ')]);
  return found;
}

export const OPTIONS_WITH_SCRIPT = indexByName(SCRIPT_OPTIONS);
export const OPTIONS_BEFORE_COMMAND = indexByName(COMMAND_OPTIONS);

/** Variables whose value a program runs as a script. */
export const RUN_VARIABLES =
  /^(?:GIT_(?:SSH_COMMAND|SSH|PAGER|EDITOR|SEQUENCE_EDITOR|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND)|(?:MAN|SYSTEMD_|DELTA_|BAT_|AWS_|GH_|PSQL_)?PAGER|EDITOR|VISUAL|FCEDIT|SUDO_EDITOR|(?:SSH|SUDO)_ASKPASS|PROMPT_COMMAND|LESSOPEN|LESSCLOSE|BROWSER|RUSTC_WRAPPER|RSYNC_RSH|CVS_RSH|SVN_SSH|HG_EDITOR|TAR_OPTIONS|PS[0124]|npm_config_(?:script_shell|node_gyp)|MAKEFLAGS)$/;

/** Shells that take a script after `-c`, or read one from their input. */
export const SHELLS: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'zsh',
  'ksh',
  'dash',
  'ash',
  'fish',
  'csh',
  'tcsh',
  'rbash',
  'mksh',
  'nu',
  'xonsh',
  'elvish',
  'osh',
  'ysh',
  'yash',
]);

/** Options of shells with a value in the next word. */
export const SHELL_OPTIONS_WITH_VALUE = /^(?:--(?:rcfile|init-file|init-command)|-C)$/;

/** Interpreters of source code in an argument, with the flags before it. */
export const INTERPRETERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['python', ['-c']],
  ['python2', ['-c']],
  ['python3', ['-c']],
  ['pypy3', ['-c']],
  ['node', ['-e', '-p', '-pe', '--eval', '--print']],
  ['nodejs', ['-e', '-p', '--eval', '--print']],
  ['bun', ['-e', '-p', '--eval', '--print']],
  ['deno', ['eval']],
  ['tsx', ['-e', '-p', '--eval']],
  ['perl', ['-e', '-E', '-ne', '-pe', '-le', '-lne', '-MIO']],
  ['ruby', ['-e']],
  ['php', ['-r']],
  ['lua', ['-e']],
  ['tclsh', ['-c']],
  ['expect', ['-c']],
  ['osascript', ['-e']],
  ['rscript', ['-e']],
  ['ipython', ['-c']],
  ['groovy', ['-e']],
  ['jshell', []],
]);

/** Returns the flags before source code of an interpreter: `python3.12` is `python3`. */
export function findInterpreterFlags(name: string): readonly string[] | undefined {
  return INTERPRETERS.get(name) ?? INTERPRETERS.get(name.replace(/[.\d]+$/, ''));
}

/** Programs whose words are text, names or patterns, so that a program among them is not run. */
export const TAKES_TEXT: ReadonlySet<string> = new Set(
  'echo printf print grep egrep fgrep zgrep rg ag ack pgrep pkill killall sed awk gawk mawk nawk cat less more head tail tee man tldr cheat help info apropos whatis which whence where type hash command alias unalias complete compgen test [ [[ jq yq cut tr sort uniq wc diff cmp comm ls dir stat file find fd locate mkdir touch cp mv ln rm chmod chown read set export unset declare local typeset readonly return source for while case select function until sleep seq basename dirname expect vi vim nvim nano emacs code open say logger wall mail write-host write-output git hg svn gh glab hub tig brew apt apt-get apk yum dnf pacman zypper snap choco winget scoop port emerge nix-env pip pip3 gem cargo go composer conda mamba asdf cpan luarocks gpg trap claude codex gemini explain howdoi explainshell note notify-send write systemctl service sc rc-service update-rc.d chkconfig docker-compose convert select insert drop delete truncate update grant alter create perform please to the a i we you it this that don can how what why when do'.split(
    ' ',
  ),
);

/** Programs with which the command of a wrapper begins that is not known. */
export const WRAPPED_PROGRAMS: ReadonlySet<string> = new Set([
  ...SHELLS,
  ...'rm rmdir unlink find dd mkfs mkfs.ext4 shred wipefs truncate chmod chown mv cp cat git docker podman kubectl helm terraform tofu pulumi aws gcloud az curl wget nc ncat scp rsync ssh sudo doas env xargs npx pnpm yarn npm bunx python python3 perl ruby node php psql mysql mariadb sqlite3 duckdb clickhouse-client mongo mongosh redis-cli valkey-cli dropdb mysqladmin socat sftp lftp mail dig nslookup prisma rails alembic systemctl crontab kill killall pkill reboot shutdown rimraf powershell pwsh'.split(
    ' ',
  ),
]);
