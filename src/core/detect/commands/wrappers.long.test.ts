import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeScript } from './judge.ts';

const quoted = (script: string) => `'${script.replaceAll("'", `'\\''`)}'`;

type Around = (script: string) => string;

/** Programs before a command, as in daily use. */
const BEFORE: readonly string[] =
  `sudo¦sudo -n -u www-data¦doas¦env¦env -i A=1¦env -u B --¦nohup¦setsid¦setsid -f¦nice¦nice -n 19¦ionice -c3¦chrt -i 0¦taskset 0x1¦timeout 5¦timeout -k 1 --signal=KILL 5s¦stdbuf -oL¦unbuffer¦time¦time -p¦command¦exec¦exec -a x¦busybox¦strace -f -o /dev/null¦ltrace¦valgrind -q¦perf stat¦flock /tmp/l¦systemd-run --user¦systemd-inhibit --what=sleep¦xvfb-run -a¦dbus-run-session --¦fakeroot¦firejail --quiet¦unshare -r¦nsenter -t 1 -m¦chroot /mnt¦gosu root¦su-exec root¦pkexec¦runuser -u ada --¦xargs¦xargs -n1 -I@¦uv run¦uv run --with x --¦uvx¦poetry run¦pipenv run¦pdm run¦hatch run¦conda run -n base¦bundle exec¦rbenv exec¦pyenv exec¦npx¦npx --yes¦npm exec --¦npm x --¦pnpm exec¦pnpm dlx¦yarn exec¦yarn dlx¦bunx¦bun x¦mise exec --¦mise x node@20 --¦asdf exec¦direnv exec .¦dotenv --¦op run --¦doppler run --¦aws-vault exec prod --¦chamber exec app --¦cross-env A=1¦watchexec --¦entr -r¦tmux new-session -d -s x¦tmux new -d¦screen -dm¦screen -dmS x¦nix develop -c¦nix shell nixpkgs#hello --command¦guix shell hello --¦git bisect run¦git submodule foreach¦git submodule foreach --recursive¦docker exec web¦docker exec -it -u 0 web¦docker run --rm -it alpine¦docker run --rm -v $PWD:/app -w /app node:20¦docker compose exec api¦docker compose run --rm api¦podman exec web¦kubectl exec web-1 --¦kubectl exec -it web-1 -c app --¦lxc exec c --¦multipass exec vm --¦ssh host¦ssh -p 22 -i key ada@host¦mosh host --¦heroku run¦distrobox enter x --¦start-stop-daemon --start --exec¦xterm -e¦distrobox-enter x --¦distrobox-enter --¦tini --¦dumb-init¦chronic¦cpulimit -l 50 --¦toolbox run¦flatpak-spawn --host¦proot -r /¦rlwrap¦torsocks¦caffeinate -i¦arch -x86_64`.split(
    '¦',
  );
/** Wrappers that run a script in quotes, in a substitution, in a file or in another language. */
const AROUND: readonly Around[] = [
  (script) => `bash -c ${quoted(script)}`,
  (script) => `bash -euo pipefail -c ${quoted(script)}`,
  (script) => `bash -O extglob -c ${quoted(script)}`,
  (script) => `sh -o errexit -c ${quoted(script)}`,
  (script) => `bash --rcfile /dev/null -lic ${quoted(script)}`,
  (script) => `zsh -f -c ${quoted(script)}`,
  (script) => `nu -c ${quoted(script)}`,
  (script) => `xonsh -c ${quoted(script)}`,
  (script) => `su ada -c ${quoted(script)}`,
  (script) => `runuser -l ada -c ${quoted(script)}`,
  (script) => `script -qc ${quoted(script)} /dev/null`,
  (script) => `flock /tmp/l -c ${quoted(script)}`,
  (script) => `env -S ${quoted(`bash -c ${quoted(script)}`)}`,
  (script) => `npx -c ${quoted(script)}`,
  (script) => `npm exec -c ${quoted(script)}`,
  (script) => `nix-shell -p hello --run ${quoted(script)}`,
  (script) => `nix-shell --command ${quoted(script)}`,
  (script) => `tmux new-session -d ${quoted(script)}`,
  (script) => `tmux send-keys -t 0 ${quoted(script)} Enter`,
  (script) => `screen -dm bash -c ${quoted(script)}`,
  (script) => `watch -n1 ${quoted(script)}`,
  (script) => `parallel ${quoted(script)} ::: 1`,
  (script) => `git submodule foreach ${quoted(script)}`,
  (script) => `git rebase --exec ${quoted(script)} main`,
  (script) => `git rebase -x ${quoted(script)} HEAD~2`,
  (script) => `git filter-branch --tree-filter ${quoted(script)}`,
  (script) => `git difftool -x ${quoted(script)}`,
  (script) => `GIT_SSH_COMMAND=${quoted(script)} git fetch`,
  (script) => `PAGER=${quoted(script)} man ls`,
  (script) => `export PROMPT_COMMAND=${quoted(script)}`,
  (script) => `eval ${quoted(script)}`,
  (script) => `trap ${quoted(script)} EXIT`,
  (script) => `trap -- ${quoted(script)} 0`,
  (script) => `alias x=${quoted(script)}; x`,
  (script) => `f() { "$@"; }; f bash -c ${quoted(script)}`,
  (script) => `f() { eval "$1"; }; f ${quoted(script)}`,
  (script) => `set -- ${quoted(script)}; eval "$1"`,
  (script) => `export c=${quoted(script)}; eval "$c"`,
  (script) => `declare c=${quoted(script)}; bash -c "$c"`,
  (script) => `read -r c <<< ${quoted(script)}; eval "$c"`,
  (script) => `bash <(echo ${quoted(script)})`,
  (script) => `source <(echo ${quoted(script)})`,
  (script) => `. /dev/stdin <<< ${quoted(script)}`,
  (script) => `bash < <(echo ${quoted(script)})`,
  (script) => `echo ${quoted(script)} | sh`,
  (script) => `echo ${quoted(script)} | tee /dev/null | bash -s`,
  (script) => `echo ${quoted(Buffer.from(script).toString('base64'))} | base64 -d | sh`,
  (script) => `eval "$(printf %s ${quoted(script)})"`,
  (script) => `echo ${quoted(script)} > x.sh; bash x.sh`,
  (script) => `echo ${quoted(script)} > /work/x.sh && chmod +x /work/x.sh && /work/x.sh`,
  (script) => `cat > x.sh <<'END'\n${script}\nEND\nsh ./x.sh`,
  (script) => `tee x.sh <<< ${quoted(script)}; . ./x.sh`,
  (script) => `bash <<'END'\n${script}\nEND`,
  (script) => `echo ${quoted(script)} | at now`,
  (script) => `find . -maxdepth 0 -exec sh -c ${quoted(script)} \\;`,
  (script) => `xargs -I@ sh -c ${quoted(script)}`,
  (script) => `ssh host ${quoted(script)}`,
  (script) => `docker exec web sh -c ${quoted(script)}`,
  (script) => `kubectl exec web-1 -- sh -c ${quoted(script)}`,
  (script) => `vagrant ssh -c ${quoted(script)}`,
  (script) => `gcloud compute ssh vm --command ${quoted(script)}`,
  (script) => `ansible all -a ${quoted(script)}`,
  (script) => `hyperfine ${quoted(script)}`,
  (script) => `concurrently ${quoted(script)}`,
  (script) => `nodemon --exec ${quoted(script)}`,
  (script) => `tar xf a.tar --to-command=${quoted(script)}`,
  (script) => `tar cf a.tar b --checkpoint=1 --checkpoint-action=exec=${quoted(script)}`,
  (script) => `rsync -e ${quoted(script)} a b:c`,
  (script) => `ssh -o ProxyCommand=${quoted(script)} x`,
  (script) => `vim -c ${quoted(`:!${script}`)} -c :q`,
  (script) => `ex -c ${quoted(`!${script}`)}`,
  (script) => `sed ${quoted(`1e ${script}`)} a.txt`,
  (script) => `sqlite3 a.db ${quoted(`.shell ${script}`)}`,
  (script) => `make -f - <<'END'\nall:\n\t${script}\nEND`,
];
/** Wrappers in other languages, whose texts have their own quotes. */
const IN_CODE: readonly Around[] = [
  (script) => `python3 -c ${quoted(`import os; os.system(${JSON.stringify(script)})`)}`,
  (script) => `perl -e ${quoted(`system(${JSON.stringify(script)})`)}`,
  (script) => `ruby -e ${quoted(`system(${JSON.stringify(script)})`)}`,
  (script) => `node -e ${quoted(`require('child_process').execSync(${JSON.stringify(script)})`)}`,
  (script) => `php -r ${quoted(`system(${JSON.stringify(script)});`)}`,
  (script) => `lua -e ${quoted(`os.execute(${JSON.stringify(script)})`)}`,
  (script) => `awk ${quoted(`BEGIN{system(${JSON.stringify(script)})}`)}`,
  (script) => `emacs --batch --eval ${quoted(`(shell-command ${JSON.stringify(script)})`)}`,
];

/** Wrappers that take one line only, and wrappers that add words after the script. */
const ONE_LINE = /^(?:read|vim|ex|sed|sqlite3|make|parallel|tmux send|echo .*make)/;

/** Commands that are critical, one of each kind. */
const DANGEROUS: readonly (readonly [id: string, script: string])[] = [
  ['filesystem.delete_whole', 'rm -rf /'],
  ['filesystem.disk_write', 'dd if=/dev/zero of=/dev/sda'],
  ['filesystem.format', 'mkfs.ext4 /dev/sda1'],
  ['git.push_force', 'git push --force origin main'],
  ['database.document_drop', `mongosh --eval "db.dropDatabase()"`],
  ['infrastructure.cluster_whole', 'terraform destroy -auto-approve'],
  ['credentials.metadata', 'curl http://169.254.169.254/latest/meta-data/'],
  ['privilege.kernel', 'insmod /tmp/a.ko'],
];
const HARMLESS: readonly string[] = [
  'npm test',
  'git status',
  'ls -la src',
  'rm -rf node_modules',
  'node --version',
];

/** Each fourth pair of wrappers is tried, and each in the nightly round. */
const PAIRS_STEP = process.env.NIGHTLY === undefined ? 12 : 1;

const ids = (script: string) => judgeScript(script).matches.map(({ rule }) => rule.id);

test('no wrapper hides a command, and none in another one', () => {
  const lost: string[] = [];
  let pairs = 0;
  const look = (id: string, script: string) => {
    if (!ids(script).includes(id)) lost.push(`${id}: ${script}`);
  };
  for (const [id, script] of DANGEROUS) {
    for (const before of BEFORE) look(id, `${before} ${script}`);
    for (const around of [...AROUND, ...IN_CODE]) look(id, around(script));
  }
  const [id, script] = DANGEROUS[0]!;
  const lookAtPair = (pair: string) => {
    pairs += 1;
    if (pairs % PAIRS_STEP === 0) look(id, pair);
  };
  for (const outer of BEFORE) for (const before of BEFORE) lookAtPair(`${outer} ${before} ${script}`);
  for (const outer of AROUND)
    for (const around of [...AROUND, ...IN_CODE]) {
      const inner = around(script);
      if (inner.includes('\n') && ONE_LINE.test(outer(''))) continue;
      lookAtPair(outer(inner));
    }
  for (const outer of AROUND) for (const before of BEFORE) lookAtPair(outer(`${before} ${script}`));
  assert.deepEqual(lost.slice(0, 40), [], `${lost.length} lost`);
  assert.ok(
    BEFORE.length > 110 && AROUND.length > 70 && pairs > 25_000,
    `${BEFORE.length} ${AROUND.length} ${pairs}`,
  );
});

/** Wrappers that are dangerous with any command. */
const FLAGGED =
  /^(?:doas|nsenter|unshare|chroot|pkexec|runuser|su |sudo -n -u|docker exec -it -u 0|docker run .* -u|kubectl exec|ssh host|export PROMPT|systemd-run|git filter-branch|git rebase|ansible|tar |ssh -o|vim|ex |sed|sqlite3|echo .* \| at|echo .*base64|eval|script|proot|mise|python3|perl|ruby|node -e|php|lua|awk|emacs|rsync|f\(\)|set --|export c|declare c|read -r|bash <|source|\. |env -S|PAGER|GIT|alias|trap|make|xterm|screen|start-stop|parallel)/;

test('no wrapper makes a harmless command dangerous', () => {
  const found: string[] = [];
  let count = 0;
  const look = (script: string, wrapper: string) => {
    count += 1;
    const severe = judgeScript(script).matches.filter(
      ({ rule }) => rule.severity !== 'low' && !FLAGGED.test(wrapper),
    );
    if (severe.length > 0) found.push(`${severe.map(({ rule }) => rule.id)}: ${script}`);
  };
  for (const script of HARMLESS) {
    for (const before of BEFORE) look(`${before} ${script}`, before);
    for (const around of [...AROUND, ...IN_CODE]) look(around(script), around(script));
  }
  assert.deepEqual(found, []);
  assert.equal(count, HARMLESS.length * (BEFORE.length + AROUND.length + IN_CODE.length));
});
