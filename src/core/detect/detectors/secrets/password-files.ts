import type { Detector } from '../../matching/detector.ts';
import { gradePlacedPassword } from '../../matching/grade-secret.ts';
import { isPlaceholder, isReference } from '../../matching/placeholders.ts';
import { BASE62, sampleBody } from '../../matching/sample-text.ts';

const CRYPT = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Passwords in file formats with a place for them: `.netrc`, `.pgpass`, `shadow`, `.npmrc`, and the site list of
 * FileZilla.
 */
export const passwordFiles: readonly Detector[] = [
  {
    id: 'netrc.password',
    detector: 'password',
    tags: ['secret.credential.password.netrc'],
    severity: 'critical',
    grade: gradePlacedPassword,
    strength: 'proof',
    description: 'Passwords in `.netrc`: `login`, a name, `password` and the value, between blanks.',
    anchors: ['(?i)password'],
    pattern:
      /(?<=\blogin[ \t\r\n]{1,8}(?!(?:and|or|with|via|by|using|as)[ \t])\S{1,64}[ \t\r\n]{1,8})password[ \t\r\n]{1,8}(?<value>[^\s"'<]\S{2,255})/,

    validate: (value) => !isReference(value),
    examples: {
      hits: [
        'machine api.host.test login ada password «k4ctus-Zaun»\n',
        'machine h\n  login ada\n  password «s3same»\n',
      ],
      misses: [
        'login as ada with your password please',
        'the login and password that are kept',
        `login ada password \${PASSWORD}`,
        'login ada password <yours>',
      ],
    },
  },
  {
    id: 'pgpass.password',
    detector: 'password',
    tags: ['secret.credential.password.postgresql'],
    severity: 'critical',
    grade: gradePlacedPassword,
    strength: 'proof',
    description: 'Lines of `.pgpass`: host, port 5432 or 5433, database, user and password between colons.',
    anchors: [':543[0-9]:'],
    pattern: /:543\d:[\w*.-]{1,63}:[\w.@-]{1,63}:(?<value>[^\s:"']{4,128})(?=\s|$)/,
    validate: (value) => !isPlaceholder(value),
    examples: {
      hits: ['db.host.test:5432:prod:ada:«k4ctus-Zaun»\n', '*:5433:*:ada:«s3same99»'],
      misses: ['localhost:5432:prod:ada:password\n', 'tcp:5432:5432', 'db:5432:prod'],
    },
  },
  {
    id: 'crypt.password_hash',
    detector: 'password_hash',
    tags: ['secret.credential.password_hash'],
    severity: 'medium',
    strength: 'proof',
    description:
      'Hashes of passwords as crypt(3), bcrypt and Argon2 write them, in `shadow`, `.htpasswd` and tables of users: guessing at them needs no account.',
    anchors: ['\\$2[abxy]\\$\\d', '\\$[56y]\\$', '\\$apr1\\$', '\\$argon2'],
    pattern:
      /\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|[56]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}|y\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}|apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|argon2(?:id|i|d)\$(?:v=\d{1,3}\$)?m=\d{1,9},t=\d{1,6},p=\d{1,4}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,180})(?![./A-Za-z0-9])/,
    examples: {
      hits: [
        `root:«${'$6$'}${sampleBody(8)}$${sampleBody(86, CRYPT)}»:19000:0:99999:7:::`,
        `ada:«${'$2y$'}10$${sampleBody(53, CRYPT)}»`,
        `ada:«${'$apr1$'}${sampleBody(8)}$${sampleBody(22, CRYPT)}»`,
        `«${'$argon2id$'}v=19$m=65536,t=3,p=4$${sampleBody(22)}$${sampleBody(43)}»`,
      ],
      misses: ['cost $6$ or $5$ each', `${'$2y$'}10$${sampleBody(20, CRYPT)}`, '$1$2$3'],
    },
  },
  {
    id: 'npm.registry_token',
    detector: 'api_key',
    tags: ['secret.credential.api_key.npm'],
    severity: 'critical',
    strength: 'proof',
    description: 'Tokens of any registry in `.npmrc`: `_authToken=`, whatever form they have, UUIDs too.',
    anchors: ['_authToken'],
    pattern: /_authToken\s{0,2}=\s{0,2}["']?(?<value>[\w~+/=.-]{16,512})/,
    validate: (value) => !isPlaceholder(value),
    examples: {
      hits: [
        '//npm.host.test/:_authToken=«8f0b7c2e-1d3a-4e5f-9a6b-7c8d9e0f1a2b»',
        `_authToken="«${sampleBody(32, BASE62)}»"`,
      ],
      misses: [`_authToken=\${NPM_TOKEN}`, '_authToken=your-token-goes-here'],
    },
  },
];
