import type { Detector } from '../../matching/detector.ts';
import { gradeAddress } from '../../matching/grade-secret.ts';
import { isPlaceholder } from '../../matching/placeholders.ts';

export const connectionString: readonly Detector[] = [
  {
    id: 'url.credentials',
    detector: 'connection_string',
    tags: ['secret.credential.connection_string'],
    severity: 'critical',
    grade: gradeAddress,
    strength: 'proof',
    description:
      'An address with a password in it (RFC 3986 user information): `scheme://user:password@host/...`, whole.',
    anchors: ['[A-Za-z0-9]://[^/\\s]'],
    back: { over: '[A-Za-z0-9+.-]', units_max: 30 },
    pattern:
      /[A-Za-z][A-Za-z0-9+.-]{0,30}:\/\/[^\s:/@"'`<>\\]{0,128}:[^\s/"'`\\]{1,256}@[^\s"'`<>\\,;)\]}@]{0,512}[^\s"'`<>\\,;)\]}@.!?:]/,
    validate: hasPassword,
    examples: {
      hits: [
        `DATABASE_URL=«postgresql://admin:${'p4ss'}w0rd@db.internal:5432/prod»`,
        `"«redis://:${'Kj8s'}kd92@cache:6379/0»"`,
        `see «https://deploy:${'t0k3n'}abc@git.corp.test/a.git».`,
        `mongodb: «mongodb+srv://app:${'s3cr'}3t@c0.mongodb.test/db?w=majority», then`,
      ],
      misses: [
        'postgresql://localhost:5432/prod',
        `postgres://user:\${DB_PASSWORD}@host/db`,
        'postgres://<user>:<password>@<host>/db',
        'postgres://user:password@host/db',
        'https://example.test/a:b@c',
        'https://example.test:8080/x',
        'https://$GITHUB_TOKEN:x-oauth-basic@github.com/acme/app.git',
        'https://%USER%:%PASSWORD%@host.test/a',
        'https://{{user}}:{{password}}@host.test/a',
        'https://x-access-token:$TOKEN@github.com/a/b',
      ],
    },
  },
  {
    id: 'dsn.password',
    detector: 'connection_string',
    tags: ['secret.credential.connection_string'],
    severity: 'high',
    strength: 'cue',
    description: 'The password among the fields of a connection string: `User ID=...;Password=...;`.',
    anchors: ['(?i);[ ]?password=', '(?i);[ ]?pwd='],
    pattern: /;[ ]?(?:password|pwd)=(?<value>[^\s;"'`<>{}$\\]{4,128})(?=[;"'])/i,
    validate: (value) => /\d/.test(value) && !isPlaceholder(value) && !REFERENCE.test(value),
    examples: {
      hits: [
        `"Data Source=s:1521/d.test;User ID=app;Password=«${'svcacct'}pass7»;"`,
        `Server=db;Uid=app;Pwd=«${'Kx92'}-abQ»;`,
      ],
      misses: [
        'User ID=app;Password=changeme;',
        'Server=db;Uid=app;Pwd=<password>;',
        'User ID=app;Password={0};',
        'User ID=app;Password=%PWD%;',
      ],
    },
  },
];

/** A variable, a template or a placeholder: `$X`, `%X%`, `{{x}}`, `<x>`. */
const REFERENCE = /^(?:[<${[*]|%[A-Za-z_(])/;
/** Fixed passwords that code hosts accept if the user name is the token. */
const NO_PASSWORD = /^(?:x-oauth-basic|x-token-auth|x)?$/i;

function hasPassword(address: string): boolean {
  const pair = address.slice(address.indexOf('://') + 3, address.lastIndexOf('@'));
  const user = pair.slice(0, pair.indexOf(':'));
  const password = pair.slice(user.length + 1);
  if (REFERENCE.test(user) && NO_PASSWORD.test(password)) return false;
  return !isPlaceholder(password) && !REFERENCE.test(password) && !/^x+$/i.test(password);
}
