import { memoize } from '../../../memoize.ts';
import { findKnownFile } from '../../shell/files.ts';
import { isHarmlessCall, joinWords, parseArguments } from '../../shell/options.ts';
import { findInput } from '../../shell/output.ts';
import type { Command } from '../../shell/syntax.ts';
import { gradeReset } from '../grade-command.ts';
import { classifySqlDamage, type SqlDamage } from '../sql.ts';
import type { CommandRule } from './rule.ts';

const CLIENTS =
  'psql mysql mariadb sqlite3 sqlite sqlcmd mssql-cli osql sqlplus cockroach clickhouse-client duckdb bq snowsql usql cqlsh pgcli mycli wrangler supabase turso prisma heroku';
const BARE = 'drop delete truncate update grant alter';

/** Verbs that tools for web frameworks share. */
const SHARED_VERBS =
  / (?:db:(?:drop|reset|wipe|purge|schema:load)|migrate:(?:fresh|reset|refresh)|migrate reset|db push .*--(?:force-reset|accept-data-loss)|db:drop:\w+|downgrade base|schema:(?:drop|fresh)|flush --no-?input|db:migrate:undo:all|migrate:rollback --all|migrate \w+ zero|doctrine:(?:database|schema):drop|ecto\.(?:drop|reset)) /;

/** The words with which a tool destroys: `programs | words`. */
const DESTROYS: ReadonlyMap<string, RegExp> = new Map(
  (
    [
      [
        'rails rake bundle php artisan sail console prisma alembic flask sequelize sequelize-cli typeorm typeorm-ts-node-commonjs typeorm-ts-node-esm knex mikro-orm payload keystone mix adonis ace',
        SHARED_VERBS,
      ],
      ['atlas', / schema (?:clean|apply .*--auto-approve) /],
      ['bq', / rm .*-(?:r|f) /],
      ['convex', / import .*--replace(?:-all)? /],
      ['dbmate', / drop /],
      ['diesel', / database (?:reset|drop) /],
      ['django-admin manage.py', / (?:flush|reset_db|migrate \w+ zero) /],
      ['dotnet', / ef (?:database (?:drop|update 0)|migrations remove .*(?:-f|--force)) /],
      ['dotnet-ef', / (?:database (?:drop|update 0)|migrations remove .*(?:-f|--force)) /],
      ['drizzle-kit', / (?:drop|push .*--force) /],
      ['dropdb dropuser', / \S/],
      ['etcdctl', / del .*(?:--prefix|--from-key)/],
      ['flyway', / clean /],
      ['goose', / (?:reset|down-to 0) /],
      ['gradle gradlew mvn mvnw', / \S*(?:flyway:?clean|liquibase:dropAll|dropAll) /i],
      ['hasura', / --down[= ]all /],
      ['influx', / bucket delete /],
      ['liquibase', / (?:drop-?all|rollback(?!-?sql)[\w-]*) /i],
      ['migrate', / (?:drop|down --?all) /],
      ['mongorestore', / --drop /],
      ['mysqladmin', / drop /],
      ['nodetool', / (?:clearsnapshot .*--all|assassinate|decommission) /],
      ['pg_restore', / (?:-c|--clean) /],
      ['python python3', / (?:\S*\/)?manage\.py (?:flush|reset_db|sqlflush .*\||drop_\w+|migrate \w+ zero) /],
      ['sea-orm-cli', / migrate (?:fresh|reset|refresh) /],
      ['sqlx', / (?:database|db) (?:drop|reset) /],
      ['strapi', / transfer .*--force /],
    ] as const
  ).flatMap(([names, words]) => names.split(' ').map((name) => [name, words] as const)),
);

/**
 * Rules for databases: SQL or store commands that a client receives, and bare statements. Dropping a whole
 * database and emptying a store is critical. Comments and text in quotes are not statements.
 */
export const databaseRules: readonly CommandRule[] = [
  {
    id: 'database.drop_whole',
    tag: 'dangerous.database',
    severity: 'critical',
    programs: `${CLIENTS} ${BARE}`,
    description: 'Drops a database or a schema.',
    safer: "psql -c 'SELECT count(*) FROM users'",
    saw: (command) => getKind(command) === 'drops_whole',
    hits: [
      "psql -c 'DROP DATABASE shop'",
      'mysql -e "drop schema x"',
      'DROP DATABASE shop;',
      "echo 'DROP DATABASE x' | psql",
    ],
    misses: ['psql -c "-- DROP DATABASE x"', 'psql -c "SELECT \'drop database\'"', 'echo "DROP DATABASE x"'],
  },
  {
    id: 'database.drop',
    tag: 'dangerous.database',
    severity: 'high',
    programs: `${CLIENTS} ${BARE}`,
    description: 'Drops or empties a table or another part of a database.',
    safer: "psql -c 'SELECT count(*) FROM users'",
    saw: (command) => getKind(command) === 'destroys',
    hits: [
      "psql -c 'DROP TABLE users'",
      'mysql -e "/*!50000 DROP TABLE users */"',
      'truncate table orders;',
      'sqlite3 a.db "drop table x"',
      'ALTER TABLE a DROP COLUMN b;',
    ],
    misses: ['DESCRIBE users;', 'git commit -m "drop table"', 'truncate -s 1M x', 'psql -c "SELECT 1"'],
  },
  {
    id: 'database.delete_all',
    tag: 'dangerous.database',
    severity: 'high',
    programs: `${CLIENTS} ${BARE}`,
    description: 'Deletes or changes all rows of a table: there is no condition.',
    safer: "psql -c 'DELETE FROM carts WHERE id = 7'",
    saw: (command) => getKind(command) === 'deletes_all',
    hits: [
      'DELETE FROM users;',
      "psql -c 'update users set admin = true'",
      'mysql -e "DELETE FROM a WHERE 1=1"',
    ],
    misses: ["psql -c 'DELETE FROM users WHERE id = 1'", 'delete notes.txt', 'update packages'],
  },
  {
    id: 'database.grant',
    tag: 'dangerous.privilege',
    severity: 'high',
    programs: `${CLIENTS} ${BARE} copy select exec`,
    description: 'Hands out all rights, changes a password or reaches the system from a database.',
    safer: "psql -c 'GRANT SELECT ON carts TO reader'",
    saw: (command) => getKind(command) === 'grants',
    hits: [
      "GRANT ALL ON *.* TO 'x'@'y';",
      'psql -c "COPY t FROM PROGRAM \'id\'"',
      'mysql -e "select 1 into outfile \'/x\'"',
    ],
    misses: ["psql -c 'GRANT SELECT ON a TO b'", "psql -c 'SELECT 1'"],
  },
  {
    id: 'database.document_drop',
    tag: 'dangerous.database',
    severity: 'critical',
    programs: 'mongo mongosh',
    description: 'Drops a database or a collection, or empties it.',
    safer: "mongosh --eval 'db.users.countDocuments()'",
    saw: (command) =>
      [...command.words.map(({ text }) => text), ...findInput(command), ...listScriptFiles(command)].some(
        (text) => DROPS_DOCUMENTS.test(text),
      ),
    hits: ["mongo --eval 'db.dropDatabase()'", "mongosh shop --eval 'db.users.deleteMany({})'"],
    misses: ["mongosh --eval 'db.users.find()'", "mongosh --eval 'db.users.deleteMany({id: 1})'"],
  },
  {
    id: 'database.store_flush',
    tag: 'dangerous.database',
    severity: 'critical',
    programs: 'redis-cli valkey-cli keydb-cli nc ncat netcat telnet socat',
    description: 'Empties a store, or turns it into a way to write files.',
    safer: 'redis-cli dbsize',
    saw: (command) => {
      if (!command.name.endsWith('-cli'))
        return command.words.some(({ text }) => REDIS_PORT.test(text)) && findInput(command).some(isFlush);
      // `redis-cli keys '*' | xargs redis-cli del` gives the keys as words.
      const isFed = command.within.includes('xargs') && / (?:del|unlink) /i.test(joinWords(command));
      const text = [joinWords(command), ...findInput(command)].join('\n');
      return isFed || isFlush(text);
    },
    hits: [
      'redis-cli FLUSHALL',
      'redis-cli -h cache flushdb async',
      'redis-cli config set dir /var/spool/cron',
      'echo FLUSHALL | nc cache 6379',
    ],
    misses: ['redis-cli ping', 'redis-cli get flush', 'redis-cli info', 'echo PING | nc cache 6379'],
  },
  {
    id: 'database.tool_drop',
    tag: 'dangerous.database',
    severity: 'critical',
    grade: gradeReset,
    programs: [...DESTROYS.keys()].join(' '),
    description: 'Drops or resets a database with a tool.',
    safer: 'rails db:migrate:status',
    saw: (command) =>
      !isHarmlessCall(command) && DESTROYS.get(command.name)?.test(joinWords(command)) === true,
    hits: [
      'dropdb shop',
      'mysqladmin -u root drop shop',
      'rails db:drop',
      'npx prisma migrate reset',
      'php artisan migrate:fresh',
      'pnpm drizzle-kit push --force',
      'liquibase dropAll',
      'dotnet ef database drop -f',
      './gradlew flywayClean',
    ],
    misses: [
      'rails db:migrate',
      'mysqladmin status',
      'php artisan migrate',
      'dropdb --help',
      'drizzle-kit push',
      'liquibase update',
      'gradle clean',
    ],
  },
];

const DROPS_DOCUMENTS =
  /(?:\.|\[\s{0,4}["'])(?:dropDatabase|drop|dropIndexes)(?:["']\s{0,4}\])?\s{0,4}\(|\{\s{0,4}["']?drop(?:Database)?["']?\s{0,4}:|\.(?:remove|deleteMany)\s{0,4}\(\s{0,4}(?:\{\s{0,4}\}\s{0,4})?\)/;
const REDIS_PORT = /(?:^|:)6379$/;

function isFlush(text: string): boolean {
  return /(?:^|\s)(?:flushall|flushdb|shutdown|debug (?:segfault|reload)|config set dir|script flush|cluster reset)(?:\s|$)|redis\.call\(['"]flush/i.test(
    text,
  );
}

/** Script files in a client's words: `-f a.sql`, `source a.sql`, `.read a.sql`, `\i a.sql`, `a.js`. */
const SCRIPT_FILE =
  /^(?:--(?:file|init-file|queries-file)=|(?:source|\\\.|\\ir?|\.read)[ \t]{1,8})?["']?([^\s"';=]{1,400})/;

/** Returns the known contents of the script files that a client reads. */
function listScriptFiles(command: Command): readonly string[] {
  if (command.files === null) return [];
  return command.words.flatMap(({ text }) => {
    const path = SCRIPT_FILE.exec(text)?.[1];
    return path === undefined ? [] : (findKnownFile(command, path)?.text ?? []);
  });
}

const getKind = memoize((command: Command): SqlDamage => {
  const text = findSql(command);
  return text === null ? null : classifySqlDamage(text);
});

/** Returns the SQL that a client would run; a bare statement is SQL itself. */
function findSql(command: Command): string | null {
  const { name, program, words } = command;
  const all = words.map(({ text }) => text);
  if (BARE.includes(name) || name === 'copy' || name === 'select' || name === 'exec') {
    return /^(?:drop|delete|truncate|update|grant|alter|copy|select|exec)$/.test(name)
      ? [program, ...all].join(' ')
      : null;
  }
  const { values } = parseArguments(command);
  const given = [
    '-c',
    '-e',
    '-q',
    '-Q',
    '--command',
    '--execute',
    '--query',
    '--init-command',
    '-cmd',
  ].flatMap((flag) => values.get(flag) ?? []);
  const attached = all.flatMap((text) => /^-[ec](.+)$/s.exec(text)?.[1] ?? []);
  const spaced = all.filter((text) => text.includes(' '));
  return [...given, ...attached, ...spaced, ...listScriptFiles(command), ...findInput(command)].join(';\n');
}
