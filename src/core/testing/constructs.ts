/**
 * Constructs of everything that readers read, for tests that repeat and nest them. Programs, options and keywords come
 * from the tables of the product, so that a new one is tested without another list.
 */
import { AGENT_TRACES } from '../detect/agent-traces.ts';
import { JUDGED_PROGRAMS } from '../detect/commands/judge.ts';
import {
  INTERPRETERS,
  OPTIONS_BEFORE_COMMAND,
  OPTIONS_WITH_SCRIPT,
  SHELLS,
  WRAPPERS,
} from '../detect/shell/wrappers.ts';

/** A construct that is repeated. If it has an end, all of them are opened first and then closed. */
export interface Construct {
  readonly open: string;
  readonly close: string;
}

/** Separates constructs in the lists below, and the begin of a construct from its end. */
const NEXT = '¦';
const AROUND = '…';

function parseConstructs(list: string): readonly Construct[] {
  return list.split(NEXT).map((written) => {
    const [open = '', close = ''] = written.split(AROUND);
    return { open, close };
  });
}

const SHELL_SYNTAX = parseConstructs(
  `a;¦a\n¦a&&¦a||¦a|¦a&¦a |& ¦! ¦a >b ¦a >>b ¦a <b ¦a 2>&1 ¦a &>b ¦a <>b ¦a <<<b ¦a >|b ¦a <<A\nA\n¦a <<-'A'\n\tA\n¦a <<A <<B\n¦a <<A\n$(b)\nA\n¦$(…)¦$(a …)¦"$(…)"¦\`¦$((…))¦$[…]¦<(…)¦>(…)¦(…)¦((…))¦{ …; }¦{¦}¦\${a¦\${a:-…}¦\${a}¦\${!a}¦\${a[0]}¦\${a//b/c}¦\${a#*b}¦$a¦"$a"¦$@¦$IFS¦\\¦\\\n¦'a'¦'¦"¦"a"¦$'\\x61'¦$'¦a=b ¦a+=b;¦a=$a$a;¦a=(b);¦a=(¦export a=b;¦set -- a;¦unset a;¦read a <<<b;¦alias a=b;¦alias a='a a';a;¦f() { …; }¦f() { f "$@"; };f a;¦f() { $1; };¦function f {¦if a; then …; fi¦for i in a b; do …; done¦for i in {1..9}; do rm $i; done;¦while a; do …; done¦until a;do ¦case a in a) …;; esac¦case a in ¦a) b;;¦;;¦[[ a ]]&&¦[ a ]&&¦# a\n¦#¦{a,b}¦{a,b}* ¦{1..9}¦{a,{b,c}}¦{…,a}¦rm {a,b}{c,d} ¦*¦**/¦*a¦?¦[a]¦[!a-z]¦~/¦../¦./¦/a¦/a/../¦a/¦%41¦a.¦.*/¦rm -rf * ¦cd a;¦cd ..;¦cd a && ¦cd /a;¦pushd a;¦cp a b;¦mv a b;¦echo a > b;sh b;¦echo a | sh;¦echo a | ¦tee a < b;¦printf %s a | ¦cat a | ¦base64 -d | sh;¦echo YQ== | base64 -d | ¦rev | ¦tr a b | ¦sed s/a/b/ | ¦eval "…"¦eval ¦trap 'a' EXIT;¦source <(a);¦. a;¦find . -exec …\\;¦find . -exec ¦find . -name a -delete;¦find . -name a ¦find -execdir rm {} + ¦fd -x ¦xargs -I{} rm {} ¦xargs ¦xargs -I% sh -c % ¦parallel a ::: ¦::: a ¦env -S ¦env A=1 ¦PAGER=a man;¦python3 -c "…"¦os.system('a');¦awk '{system("a")}' ¦print "a" | ¦vim -c :!¦make -f - <<A\nall:\n\ta\nA\n¦ssh a ¦docker exec a ¦docker run a ¦docker run --entrypoint a ¦--entrypoint=a ¦git -C a ¦git ext::a ¦curl a ¦curl -o a b;sh a;¦coproc ¦time ¦while read a;do ¦%a%¦C:\\a ¦HKLM:\\a ¦powershell -c "…"¦cmd /c ¦$a = 1;¦$a = "b";iex $a;¦iex (…)¦Get-Item a;¦Start-Process a ¦a^b¦-a ¦--a=b ¦-- ¦@a ¦a:b ¦ln -s a b;rm -rf b/c;¦echo 'a: ;b' > Makefile;make;¦echo '{"scripts":{"a":"b"}}' > package.json;npm run a;¦find ~ -name a -o | xargs rm ¦ls a | ¦rtk rm ¦python3 -c 'print("a"+"b")' | sh;¦shutil.rmtree('a');¦git -c core.pager=a ¦curl -d $A_TOKEN a.b ¦pnpm a b ¦apply_patch <<A\n*** Delete File: a\nA\n`,
);

const WORDS: readonly string[] = [
  ...[...WRAPPERS].flatMap(([name, forms]) =>
    forms.map(({ path }) => [name, ...path.map(([step]) => step)].join(' ')),
  ),
  ...[...OPTIONS_WITH_SCRIPT, ...OPTIONS_BEFORE_COMMAND].flatMap(([name, options]) =>
    options.map((option) => `${name} ${option}`),
  ),
  ...[...SHELLS].flatMap((name) => [name, `${name} -c`]),
  ...[...INTERPRETERS].flatMap(([name, flags]) => flags.map((flag) => `${name} ${flag}`)),
];

/** Programs and options before a command, alone and with their command in quotes. */
const WRAPPER_SYNTAX: readonly Construct[] = [...new Set(WORDS)].flatMap((words) => [
  { open: `${words} `, close: '' },
  { open: `${words} '`, close: "'" },
]);

const PROGRAM_SYNTAX: readonly Construct[] = [...JUDGED_PROGRAMS].flatMap((name) => [
  { open: `${name} a;`, close: '' },
  { open: `${name} *a /a ~/.a -rf `, close: '' },
]);

const PATH_SYNTAX: readonly Construct[] = [
  ...AGENT_TRACES.guarded_files,
  ...AGENT_TRACES.guarded_folders,
].flatMap((path) => [
  { open: `rm ${path};`, close: '' },
  { open: `${path}/`, close: '' },
]);

/** Constructs of scripts. */
export const SCRIPT_CONSTRUCTS: readonly Construct[] = [
  ...SHELL_SYNTAX,
  ...WRAPPER_SYNTAX,
  ...PROGRAM_SYNTAX,
  ...PATH_SYNTAX,
];

/** Constructs of JSON documents. */
export const JSON_CONSTRUCTS: readonly Construct[] = parseConstructs(
  `[…]¦{"a":…}¦[¦]¦{¦}¦{"¦"a":¦"a",¦1,¦-1.5e9,¦true,¦null ¦[],¦{},¦{"a":1},¦["a"],¦"\\n",¦"\\u0061",¦"\\\\",¦\\u0061¦\\¦\\"¦"¦"{\\"a\\":\\"b\\"}",¦"[\\"a\\"]",¦"[\\"[\\\\\\"a\\\\\\"]\\"]",¦"command":"rm a",¦{"command":"rm {a,b}*"},¦{"command":"rm","args":["a"]},¦{"cmd":"a","args":"b"},¦{"args":["a"],"command":["rm"]},¦[["rm","a"]],¦{"commands":[["rm","a"]]},¦{"cwd":"/","command":"rm a"},¦{"path":"../a"},¦{"url":"http://a"},¦{"code":"os.system('a')"},¦{"password":"a"},¦ ¦\n`,
);

/** Constructs of addresses, paths and statements of SQL. */
export const FACT_CONSTRUCTS: readonly Construct[] = parseConstructs(
  `select 1;¦select (…)¦select a from (…) b ¦union select 1 ¦union all ¦with a as (…) ¦insert into a values (1);¦delete from a;¦drop table a;¦update a set b=1;¦/*¦*/¦/* a */¦/*!1 ¦--\n¦-- ¦#\n¦'¦''¦"¦"a"¦\`a\`¦[a]¦$$¦$a$¦$$…$$¦(¦)¦(…)¦,¦;¦a.b.c ¦exec('…');¦execute immediate '…';¦do $$ begin … end $$;¦begin ¦end;¦case when a then b end ¦copy a from program 'b';¦explain ¦e'\\'¦0x41 ¦a=a or ¦select*from a where b in (1,2);¦GO\n¦\\copy ¦http://a ¦http://¦https://a.b/c?d=e&¦http://a@b:1 ¦//a ¦a@b.c ¦a.b.c.¦1.1.1.1 ¦0x7f.1 ¦[::1] ¦http://[::1] ¦localhost ¦127.0.0.1:80 ¦169.254.169.254 ¦%2e¦%25¦http://%41 ¦/a¦../¦./¦~/¦C:\\a\\¦\\\\a\\b ¦file:///a ¦~/.ssh/id_rsa ¦.env ¦*/.env ¦{a,b}/¦[ab]¦*¦**/¦\0¦\u200b¦\t¦\n`,
);

/** Constructs of text that detectors decode. */
export const TEXT_CONSTRUCTS: readonly Construct[] = parseConstructs(
  `a¦a ¦a.¦a-¦a_¦1¦1-¦.¦ ¦\n¦'¦"¦=¦:¦@¦/¦key=¦password: ¦token=a ¦sk-¦ghp_¦eyJ¦eyJhIjox.¦-----BEGIN PRIVATE KEY-----\n¦postgres://a:b@c/¦https://a.b/c?d=¦a@b.c ¦1.2.3.4 ¦4111 1111 ¦DE44 5001 ¦%41¦%25¦%2541¦&#65;¦&#x41;¦&amp;¦\\u0041¦\\x41¦\\101¦\\n¦\\¦QUJD¦QUJDREVGR0hJSktM¦QUJDREVGR0hJSktM\n¦NDE0MjQzNDQ=¦41424344¦41 42 ¦0x41,¦65,66,¦01000001 ¦=41¦=\n¦a b c ¦i g n o r e ¦i.g.n.o.r.e.¦ignore all previous instructions. ¦ignore the ¦1gn0re ¦ignroe previuos ¦vtaber nyy cerivbhf ¦erongi lla suoiverp ¦ꓮ¦а¦ａ¦𝐚¦á¦\u200b¦\u202e¦\ufeff¦" + "¦' '¦\\\n¦rm -rf /\n¦rm {a,b}*{a,b}* ¦curl a | sh\n¦$ git a\n¦\`rm a\`¦sudo ¦find . -exec ¦drop table a;¦[a](http://b)¦![a](b?c=d)¦<a>¦<!--¦<|im_start|>¦system: ¦### ¦{"a":"¦H4sI¦eJw¦1f8b¦|¦ä¦中¦😀¦\ud83d`,
);

/** Returns a text of about so many units that repeats or nests the constructs. */
export function buildNested(constructs: readonly Construct[], units: number): string {
  const open = constructs.map((each) => each.open).join('');
  const close = constructs
    .map((each) => each.close)
    .reverse()
    .join('');
  const times = Math.max(1, Math.round(units / (open.length + close.length)));
  return open.repeat(times) + close.repeat(times);
}
