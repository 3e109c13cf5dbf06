import type { Detector } from '../../matching/detector.ts';
import { gradePlacedPassword } from '../../matching/grade-secret.ts';
import { isPlaceholder } from '../../matching/placeholders.ts';

/** A word of a command line, bare or quoted. It does not start with an option or a reference. */
const WORD =
  '(?:"(?<value>[^"$`\\n]{3,128})"|\'(?<value2>[^\'$\\n]{3,128})\'|(?<value3>[^\\s"\'`$<>|;&%(){}\\\\-][^\\s"\'`<>|;&\\\\]{2,127}))';
/** Other words of the same command, as few as possible, over continued lines. */
const SKIPPED = '(?:[^\\s|;&]{1,80}(?:[ \\t]|\\\\\\n){1,6}){0,10}?';
const USER = '(?:"[^"\\n]{1,64}"|\'[^\'\\n]{1,64}\'|[^\\s"\'|;&]{1,64})';

/** Work of one attempt: up to ten words are skipped, and an option is tried after each. */
const TRY_WORK = 192;

interface Flag {
  readonly id: string;
  readonly program: string;
  readonly anchors: readonly string[];
  readonly pattern: string;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

function buildFlagDetector({ id, program, anchors, pattern, hits, misses }: Flag): Detector {
  return {
    id,
    detector: 'password',
    tags: ['secret.credential.password.command_line'],
    severity: 'critical',
    grade: gradePlacedPassword,
    strength: 'shape',
    description: `Passwords on the command line of ${program}.`,
    anchors,
    pattern: new RegExp(pattern),
    try_work: TRY_WORK,
    validate: (value) => !isPlaceholder(value),
    examples: { hits, misses },
  };
}

/** Passwords in command arguments. They remain in shell histories, logs and process lists. */
export const commandLine: readonly Detector[] = [
  buildFlagDetector({
    id: 'cli.sshpass',
    program: '`sshpass -p`',
    anchors: ['\\bsshpass '],
    pattern: `sshpass ${SKIPPED}-p ?${WORD}`,
    hits: ["sshpass -p '«k4ctus Zaun»' ssh ada@host", 'sshpass -p«k4ctus» ssh ada@host'],
    misses: ['sshpass -p "$PASS" ssh ada@host', 'sshpass -e ssh ada@host', 'sshpass -f file ssh ada@host'],
  }),
  buildFlagDetector({
    id: 'cli.curl_user',
    program: '`curl -u` and `wget`',
    anchors: ['\\bcurl ', '\\bwget '],
    pattern: `(?:curl|wget) ${SKIPPED}(?:(?:-u|--user|--proxy-user|-U)[ =]?["']?[^\\s:"'$]{1,64}:|--(?:http-|ftp-)?password[ =]["']?)(?<value>[^\\s"'$<>|;&{][^\\s"'<>|;&]{2,127})`,
    hits: [
      'curl -u ada:«k4ctus-Zaun» https://host.test/',
      'curl -sS -X POST --user "ada:«s3same99»" https://host.test/',
      'curl https://host.test/ \\\n  -u ada:«s3same99»',
      'wget --user=ada --password=«k4ctus-Zaun» https://host.test/',
    ],
    misses: [
      'curl -u ada https://host.test/',
      'curl -u "ada:$PASS" https://host.test/',
      'curl -u user:password https://host.test/',
    ],
  }),
  buildFlagDetector({
    id: 'cli.mysql',
    program: '`mysql`, `mysqldump` and `mariadb`, whose `-p` has its value right behind it',
    anchors: ['\\bmysql', '\\bmariadb'],
    pattern: `(?:mysql|mariadb)[a-z-]{0,12} ${SKIPPED}(?:-p|--password=)${WORD}`,
    hits: ['mysql -u root -p«k4ctus-Zaun» prod', "mysqldump -h db --password='«s3same99»' prod"],
    misses: ['mysql -u root -p prod', 'mysql -u root -p"$PASS" prod', 'mysql -P 3306 -h db'],
  }),
  buildFlagDetector({
    id: 'cli.login',
    program: 'the log-ins of registries and clouds, `docker login -u ada -p`',
    anchors: ['login -'],
    pattern: `(?<=\\b(?:docker|podman|nerdctl|buildah|skopeo|helm registry|oc|az|cf|ibmcloud|crane) )login ${SKIPPED}(?:-p|--password)[ =]${WORD}`,
    hits: [
      'docker login -u ada -p «k4ctus-Zaun» host.test',
      'az login --service-principal -u app -p "«k4ctus~Zaun»" --tenant t',
    ],
    misses: [
      'docker login -u ada --password-stdin host.test',
      'docker login -u ada -p $PASS host.test',
      'they login -p whatever',
    ],
  }),
  buildFlagDetector({
    id: 'cli.windows',
    program: '`psexec -u ... -p`, `net use ... /user:` and `cmdkey /pass:`',
    anchors: ['(?i)psexec', '(?i)\\bnet use ', '(?i)cmdkey '],
    pattern: `(?:[Pp][Ss][Ee][Xx][Ee][Cc][^\\n]{1,120}? -u ${USER} {1,3}-p {1,3}|[Nn][Ee][Tt] [Uu][Ss][Ee] [^\\n]{1,120}?/[Uu][Ss][Ee][Rr]:${USER} {1,3}|[Cc][Mm][Dd][Kk][Ee][Yy] [^\\n]{1,120}?/[Pp][Aa][Ss][Ss]:)${WORD}`,
    hits: [
      'psexec \\\\10.1.1.1 -u ada -p «k4ctusZaun» cmd',
      'net use Z: \\\\host\\share /user:CORP\\ada «k4ctusZaun»',
      'cmdkey /add:host /user:ada /pass:«k4ctusZaun»',
    ],
    misses: [
      'psexec \\\\10.1.1.1 -u ada -p %PASS% cmd',
      'net use Z: \\\\host\\share',
      'psexec \\\\10.1.1.1 -s cmd',
    ],
  }),
  buildFlagDetector({
    id: 'cli.redis_ldap',
    program: '`redis-cli -a`, `ldapsearch -w` and `openssl ... pass:`',
    anchors: [
      '\\bredis-cli ',
      '\\bldapsearch ',
      '\\bldapadd ',
      '\\bldapmodify ',
      '-pass pass:',
      '-passin pass:',
      '-passout pass:',
    ],
    pattern: `(?:redis-cli ${SKIPPED}-a |ldap[a-z]{3,6} ${SKIPPED}-w |-pass(?:in|out)? pass:)${WORD}`,
    hits: [
      'redis-cli -h cache -a «k4ctus-Zaun» ping',
      'ldapsearch -x -D cn=admin -w «s3same99» -b dc=x',
      'openssl rsa -passin pass:«k4ctus» -in k',
    ],
    misses: [
      'redis-cli -h cache ping',
      'redis-cli -a $PASS ping',
      'ldapsearch -x -W -b dc=x',
      'openssl rsa -passin env:PASS',
    ],
  }),
];
