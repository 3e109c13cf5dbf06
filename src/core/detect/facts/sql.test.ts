import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSqlTags } from './sql.ts';

/** A statement, and the kinds that it must be seen as; others may be seen too only where `...` is not left out. */
const STATEMENTS: readonly (readonly [sql: string, ...kinds: string[]])[] = [
  ['WITH a AS (SELECT 1) UPDATE t SET x = 1 WHERE id = 2', 'select', 'update'],
  ['WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a', 'insert', 'select'],
  ['WITH a AS (SELECT 1) DELETE FROM t USING a WHERE t.id = a.id', 'delete', 'select'],
  ['WITH x AS (DELETE FROM t WHERE id < 5 RETURNING *) SELECT * FROM x', 'delete', 'select'],
  ['with recursive r(n) as (select 1 union all select n+1 from r) select * from r', 'select'],
  ['WITH x AS NOT MATERIALIZED (UPDATE t SET a = 1 RETURNING *) SELECT 1', 'select', 'update'],
  ['EXPLAIN ANALYZE DELETE FROM t WHERE id = 1', 'delete'],
  ['EXPLAIN (ANALYZE, BUFFERS) UPDATE t SET a = 1', 'update'],
  ['explain (analyze true) insert into t values (1)', 'insert'],
  ['EXPLAIN ANALYSE VERBOSE DELETE FROM t', 'delete'],
  ['EXPLAIN DELETE FROM t', 'select'],
  ['EXPLAIN (ANALYZE false) DELETE FROM t', 'select'],
  ['EXPLAIN SELECT * FROM t', 'select'],
  ['delete/**/from t where id=1', 'delete'],
  ['DR/**/OP TABLE users', 'drop'],
  ['DROP/**/TABLE/**/users', 'drop'],
  ['/*!50000 DROP TABLE users */', 'drop'],
  ['/*! DELETE FROM t */;', 'delete'],
  ['SELECT 1; -- it is fine\nDROP TABLE t', 'drop', 'select'],
  ["SELECT 'it''s' ; DELETE FROM t", 'delete', 'select'],
  ["SELECT 'a\\'; DELETE FROM t; -- '", 'delete', 'select'],
  ["SELECT 1 # it's fine\n; DELETE FROM t", 'delete', 'select'],
  ['/* one */ /* two */ drop table t', 'drop'],
  ['DELETE t FROM t JOIN b ON t.id = b.id', 'delete'],
  ['DELETE t1, t2 FROM t1 INNER JOIN t2 WHERE t1.id = t2.id', 'delete'],
  ['DELETE LOW_PRIORITY QUICK FROM t', 'delete'],
  ['DELETE TOP (10) FROM dbo.t', 'delete'],
  ['DELETE dbo.t WHERE id = 1', 'delete'],
  ['delete from "Users"', 'delete'],
  ['delete from [dbo].[Users]', 'delete'],
  ['DELETE FROM `users` LIMIT 1', 'delete'],
  ['PREPARE p AS DELETE FROM t WHERE id = $1', 'delete'],
  ['PREPARE p (int) AS UPDATE t SET a = $1', 'update'],
  ["PREPARE p FROM 'DELETE FROM t'", 'delete'],
  ["EXECUTE IMMEDIATE 'DROP TABLE t'", 'call', 'drop'],
  ["EXEC('DROP TABLE t')", 'call', 'drop'],
  ["exec sp_executesql N'DELETE FROM t'", 'call', 'delete'],
  ["EXEC xp_cmdshell 'dir'", 'call'],
  ['EXECUTE p (1)', 'call'],
  ['DO $$ BEGIN DELETE FROM t; END $$', 'call', 'delete'],
  ["DO $x$ BEGIN EXECUTE 'drop table t'; END $x$", 'call', 'drop'],
  ["DO 'BEGIN TRUNCATE t; END'", 'call', 'truncate'],
  ["COPY t FROM PROGRAM 'curl x'", 'call', 'copy'],
  ["COPY t TO '/tmp/x'", 'copy'],
  ['COPY (SELECT * FROM t) TO STDOUT', 'copy', 'select'],
  ["COPY t FROM '/tmp/x' CSV", 'copy', 'insert'],
  ['COPY INTO t FROM @stage', 'copy', 'insert'],
  ["LOAD DATA LOCAL INFILE 'x' INTO TABLE t", 'copy', 'insert'],
  ["BULK INSERT t FROM 'x'", 'copy', 'insert'],
  ['SELECT * INTO newtable FROM t', 'create', 'insert', 'select'],
  ['SELECT a INTO TEMP x FROM t', 'create', 'insert', 'select'],
  ["SELECT * FROM t INTO OUTFILE '/tmp/x'", 'copy', 'select'],
  ['INSERT OVERWRITE TABLE t SELECT * FROM s', 'delete', 'insert', 'select'],
  ['INSERT OR REPLACE INTO t VALUES (1)', 'insert'],
  ['INSERT IGNORE INTO t SET a = 1', 'insert'],
  ['INSERT t (a) VALUES (1)', 'insert'],
  ['REPLACE INTO t VALUES (1)', 'insert'],
  ['UPSERT INTO t VALUES (1)', 'insert', 'update'],
  ['MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE', 'merge'],
  ['MERGE t AS x USING s ON x.id = s.id WHEN MATCHED THEN UPDATE SET a = 1', 'merge', 'update'],
  ['CALL drop_all(1)', 'call'],
  ['UPDATE t SET a = 1', 'update'],
  ['UPDATE ONLY public.t AS x SET a = 1', 'update'],
  ['UPDATE a JOIN b ON a.id = b.id SET a.x = 1', 'update'],
  ['UPDATE OR IGNORE t SET a = 1', 'update'],
  ['UPDATE TOP (5) t SET a = 1', 'update'],
  ['update t set (a, b) = (1, 2)', 'update'],
  ['TRUNCATE t', 'truncate'],
  ['TRUNCATE TABLE ONLY t, s CASCADE', 'truncate'],
  ['DROP TABLE IF EXISTS t', 'drop'],
  ['DROP MATERIALIZED VIEW v', 'drop'],
  ['DROP DATABASE prod', 'drop'],
  ['ALTER TABLE t DROP COLUMN a', 'alter', 'drop'],
  ["ALTER USER u WITH PASSWORD 'x'", 'alter'],
  ['RENAME TABLE a TO b', 'alter'],
  ['CREATE TABLE t (id int)', 'create'],
  ['CREATE TABLE x AS SELECT * FROM t', 'create', 'select'],
  ['CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$', 'create'],
  ['CREATE UNIQUE INDEX i ON t (a)', 'create'],
  ['CREATE TEMP TABLE t (a int)', 'create'],
  ["CREATE USER u IDENTIFIED BY 'x'", 'create'],
  ['GRANT ALL PRIVILEGES ON t TO u', 'grant'],
  ['GRANT admin TO u', 'grant'],
  ['REVOKE ALL ON t FROM u', 'revoke'],
  ["ATTACH DATABASE 'x.db' AS y", 'create'],
  ['PRAGMA writable_schema = 1', 'alter'],
  ["VACUUM INTO '/tmp/x.db'", 'copy'],
  ['BEGIN; DELETE FROM t; COMMIT', 'delete'],
  ['BEGIN TRANSACTION DELETE FROM t COMMIT', 'delete'],
  ['IF EXISTS (SELECT 1 FROM t) DROP TABLE t', 'drop', 'select'],
  ['DECLARE @x int = 1 DELETE FROM t WHERE id = @x', 'delete'],
  ['SELECT 1 DELETE FROM t', 'delete', 'select'],
  ["SET @q = 'DROP TABLE t'; PREPARE s FROM @q; EXECUTE s", 'call', 'drop'],
  ['(SELECT * FROM t)', 'select'],
  ['\\copy t from x.csv stdin', 'copy'],
];

/** Reads alone, with words of writes in strings, comments, names and aliases. */
const READS = [
  "SELECT 'DROP TABLE users; DELETE FROM t' AS note FROM t",
  'SELECT 1 -- DELETE FROM t\n',
  'SELECT /* DROP TABLE t */ 1',
  'SELECT "delete from", `drop table` FROM t',
  'SELECT [delete], [update] FROM [dbo].[t]',
  'SELECT $$DROP TABLE t$$',
  "SELECT * FROM logs WHERE action IN ('insert', 'delete')",
  'SELECT updated_at, deleted FROM t FOR UPDATE',
  'SELECT create_date FROM sys.tables ORDER BY drop_date',
  "SELECT count(*) FROM t WHERE note LIKE '%truncate%'",
  "select replace(name, 'a', 'b') from t",
  'SELECT insert_id FROM t LIMIT 1',
];

const SENTENCES = [
  'Delete the old drafts and update the index',
  'Update the readme, set the version and commit',
  'Select an option and copy the file to the folder',
  'Copy .env.example to .env, and edit it',
  'Insert a coin into the slot',
  'Drop me a line; truncate long names in the table',
  'Create a new table in the document',
  'Grant us the time',
  'Execute the plan. Call the office now; merge the branches.',
  'With best regards',
  'If you delete files from the list, tell us',
  'Explain the plan to me',
  'Merge the pull request into main',
  'const x = { update() { return delete this.a; } };',
  'import { select, insert } from "d3"; select(node).insert("g");',
  'Begin with the first task',
  'Do it now',
  'Set the table for four',
];

test('SQL statements are classified in every dialect, with comments, in other statements and in executed strings', () => {
  for (const [sql, ...kinds] of STATEMENTS)
    assert.deepEqual(
      findSqlTags(sql).toSorted(),
      kinds.map((kind) => `sql.${kind}`),
      sql,
    );
  assert.equal(STATEMENTS.length, 95);
});

test('a read is a read, whatever words its strings, comments and names have', () => {
  for (const sql of READS) assert.deepEqual(findSqlTags(sql), ['sql.select'], sql);
  assert.equal(READS.length, 12);
});

test('sentences and code are no statements', () => {
  for (const text of SENTENCES) assert.deepEqual(findSqlTags(text), [], text);
  assert.equal(SENTENCES.length, 18);
});

test('many statements, words and quotes are read in one pass each', () => {
  for (const piece of [
    'select ',
    "select ' ",
    '/*',
    'delete t ',
    "do 'do ",
    'with a as (',
    '$$',
    '[a',
    'update t ',
  ])
    assert.ok(findSqlTags(piece.repeat(30_000)).length <= 13, piece);
});
