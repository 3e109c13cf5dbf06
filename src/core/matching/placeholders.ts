/**
 * Values that stand where a secret would: `changeme`, `<your-key>`, `${VAR}`, `process.env.KEY`, `xxxx`. Asked
 * by detectors that know a value only by the word beside it, never by those that know a vendor's form.
 */
export function isPlaceholder(value: string): boolean {
  return (
    WORDS.has(value.toLowerCase().replace(/[^a-z]/g, '')) ||
    REFERENCE.test(value) ||
    EXAMPLE.test(value) ||
    isRepeated(value)
  );
}

/** Compared without case, digits and punctuation. */
const WORDS = new Set(
  (
    'admin changeit changeme default demo dummy empty example examplekey fake false foo foobar foobarbaz ' +
    'hidden insert invalid key masked mypassword mysecret none notset null nil passphrase passwd password pass pw ' +
    'placeholder pwd redacted removed replace replaceme required sample secret secretkey string test testing ' +
    'testpassword todo token true undefined unknown unset user username value xxx yourpassword yoursecret yourtoken ' +
    'supersecret optional generated random hash hashed encrypted prompt stdin text hide show reset forgot input'
  ).split(' '),
);

/** A variable, a template, a look-up: the value is elsewhere. */
const REFERENCE =
  /^(?:\$|%[A-Za-z(]|#\{|<[^>]{0,80}>?$|\{\{?|\[|@[A-Za-z]|&[a-z]|\*+$|!|\/\/|(?:process|os|sys|env|environ|config|settings|self|this|ctx|secrets|vars?|params?|args?|data|request|req|options|opts|props|state|window|import\.meta)[.[(]|(?:get|read|load|fetch|input|prompt|require|decrypt|ref|vault|env|ENV|Fn|System)[\w.]{0,40}[(:[])|\$\{|\{\{|^[\w.]{1,80}\(|^https?:\/\/[^\s:@]{1,200}$/;

/** Words that documentation writes into a value. */
const EXAMPLE =
  /(?:^|[^a-z])(?:your|my|the|an?|some|insert|replace|enter|put|paste|add)[-_ ]|example|placeholder|change[-_]?(?:me|this|it)|replace[-_]?(?:me|this|with)|redacted|dummy|fake[-_]|sample|x{4,}|^__\w+__$|\.{3}|\*{3}|\u2026|0{8}|1234567890|123456789(?![0-9a-z])|abcdef(?:gh|$)|deadbeef|lorem/i;

function isRepeated(value: string): boolean {
  return new Set(value).size <= Math.min(2, value.length - 1);
}

/**
 * Whether a vendor's token has a body of its own: not `ghp_xxxxxxxx` and not one of the keys that
 * documentation shows (`...EXAMPLE`).
 */
export function isUnmasked(token: string): boolean {
  return !/([xX*.#])\1{5}|(.)\2{11}|EXAMPLE|REPLACE|YOUR_/.test(token);
}
