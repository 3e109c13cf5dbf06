import type { Detector } from '../../matching/detector.ts';
import { gradePassword } from '../../matching/grade-secret.ts';
import { isPlaceholder } from '../../matching/placeholders.ts';

const MORE = '[\\w.-]{0,12}';

/** Passwords in notations other than an assignment: XML elements and attributes, blocks, and environment lines. */
export const passwordNotations: readonly Detector[] = [
  {
    id: 'password.element',
    detector: 'password',
    tags: ['secret.credential.password'],
    severity: 'high',
    grade: gradePassword,
    strength: 'cue',
    description:
      'The text of an XML element that is named for a password, and the `value` next to such a name.',
    anchors: ['(?i)password', '(?i)<pass[> ]'],
    pattern: new RegExp(
      `(?:(?:(?<=<[\\w:.-]{0,40})password${MORE}|<pass)(?: [^<>]{0,80})?>(?<value>[^<>]{3,200})</|` +
        `password${MORE}["']\\s{1,4}value\\s?=\\s?["'](?<value2>[^"'<>]{3,200})["'])`,
      'i',
    ),
    validate: (value) =>
      !isPlaceholder(value.trim()) && !/^[A-Za-z]+(?: [A-Za-z]+)+[.:!?]?$/.test(value.trim()),
    examples: {
      hits: [
        '<server><password>«k4ctus-Zaun»</password></server>',
        '<Pass encoding="base64">«czNzYW1lOTk=»</Pass>',
        '<add key="ClearTextPassword" value="«k4ctus-Zaun»" />',
      ],
      misses: [
        `<password>\${env.PASSWORD}</password>`,
        '<label for="password">Your word</label>',
        '<password></password>',
        '<password>Enter your word</password>',
        '<input name="password" value="">',
        '<passenger>Ada Lovelace</passenger>',
      ],
    },
  },
  {
    id: 'password.in_block',
    detector: 'password',
    tags: ['secret.credential.password'],
    severity: 'high',
    grade: gradePassword,
    strength: 'cue',
    description: 'A quoted value behind `password` and a blank, as in blocks of Gradle, Terraform and nginx.',
    anchors: ['(?i)password'],
    pattern:
      /(?<=^|[\s{;])password[ \t]{1,4}(?:"(?<value>[^"\s$<>{}()]{4,128})"|'(?<value2>[^'\s$<>{}()]{4,128})')/im,
    validate: (value) => /[^A-Za-z]/.test(value) && !isPlaceholder(value),
    examples: {
      hits: ['credentials {\n  username "ada"\n  password "«k4ctus-Zaun»"\n}', "  password '«s3same99»'"],
      misses: ['password "Required"', `password "\${PASSWORD}1"`, 'forgot_password "k4ctus"'],
    },
  },
  {
    id: 'password.environment_word',
    detector: 'password',
    tags: ['secret.credential.password'],
    severity: 'high',
    grade: gradePassword,
    strength: 'cue',
    description:
      'A plain word as the value of an environment variable named for a password, on a line of its own.',
    anchors: ['PASSWORD=', 'PASSWD=', '_PASS='],
    pattern:
      /(?<=(?:^|\n)[ \t#]{0,8}(?:export |set |ENV )?[A-Z0-9_]{0,40})(?:PASSWORD|PASSWD|_PASS)=(?<value>[A-Za-z]{6,40})(?=[ \t]{0,8}(?:#|\r|\n|$))/,
    validate: (value) => !isPlaceholder(value),
    examples: {
      hits: ['DB_PASSWORD=«kaktuszaun»\nPORT=1\n', 'export SMTP_PASS=«kaktuszaun» # mail'],
      misses: ['DB_PASSWORD=changeme\n', 'connect(PASSWORD=kaktuszaun)', 'PASSWORD=kaktus.zaun(1)\n'],
    },
  },
];
