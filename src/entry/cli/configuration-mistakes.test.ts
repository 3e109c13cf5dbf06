/** Typical mistakes in a configuration: the message names the place, the value where it is safe to, and the fix. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { runInProcess, withFolder } from './testing/run.ts';

const RULE = 'name: a, boundary: input, data_tags: [secret], action: block';
const PATTERN =
  'id: own.x, severity: low, description: d, examples: {hits: ["«EMP-1234»"], misses: [a]}, tags: [personal.pii.x]';

const MISTAKES: readonly (readonly [text: string, ...said: readonly RegExp[]])[] = [
  [
    'sessions: {idle_timeout: 12 hours}',
    /`sessions\.idle_timeout` must be a duration/,
    /`12 hours`; did you mean `12h`\?/,
  ],
  [
    `policies: [{${RULE.replace('data_tags: [secret]', 'condition: {rule_id: git.push_force}')}}]`,
    /`policies\[0\]\.condition\.rule_id` needs `data_tags`: only findings have a detector/,
  ],
  [`policies: [{${RULE}, condition: {rule_ids: git.push}}]`, /must be a list; .*Write `\[git\.push\]`/],
  [
    `policies: [{${RULE}, condition: {rule_ids: [git.push]}, session: {add: [x]}}]`,
    /conflicts with `session`, which reads tags only; write two rules/,
  ],
  [
    `policies: [{${RULE}, condition: {severity_min: high}, session: {remove: [x]}}]`,
    /`policies\[0\]\.condition\.severity_min` conflicts with `session`/,
  ],
  ['secret_detection: {enabled: yes}', /`true` or `false`; it is the string `yes`, and YAML 1\.2/],
  [`policies: [{${RULE.replace('block', 'deny')}}]`, /it is the string `deny`; did you mean `block`\?/],
  [`policies: [{${RULE.replace('input', 'prompt')}}]`, /it is the string `prompt`; did you mean `input`\?/],
  [`policies: [{${RULE.replace('block', 'require_aproval')}}]`, /did you mean `require_approval`\?/],
  [
    `policies: [{${RULE.replace('[secret]', 'secret')}}]`,
    /must be a list; it is the string `secret`\. Write `\[secret\]`/,
  ],
  [
    `policies: [{${RULE.replace('data_tags', 'tags')}}]`,
    /unknown key `policies\[0\]\.tags`; did you mean `data_tags`\?/,
  ],
  [`policies: [{${RULE.replace(', action: block', '')}}]`, /`policies\[0\]\.action` is missing/],
  [
    'policies: policies/*.yaml',
    /it is a string of 15 characters\. Name the files in `paths\.policy_files`\.$/m,
  ],
  ['contracts: ./tools.yaml', /unknown key `contracts`; did you mean `paths\.contract_files`\?/],
  ['mcp: {servers: files}', /must be a list; it is the string `files`\.$/m],
  ['policies: {name: a}', /`policies` must be a list; it is a mapping/],
  [`policies: [{${RULE}, condition: {when: "tool ="}}]`, /condition\.when` is no condition/],
  [`policies: [{${RULE.replace('secret', 'secret.credental')}}]`, /did you mean `secret\.credential/],
  [
    `detection: {patterns: [{${PATTERN}, pattern: "\\\\d{9}"}]}`,
    /3 or more fixed characters in a row/,
    /`anchor`/,
  ],
  [
    `detection: {patterns: [{${PATTERN}, pattern: "EMP-(?=1)\\\\d{4}"}]}`,
    /not a valid RE2 pattern/,
    /no look-around/,
  ],
  ['server: {port: "80a"}', /whole number; it is the string `80a`/],
  ['server: {port: 70000}', /from 0 to 65535; it is `70000`/],
  [`policies: [{${RULE.replace('secret', 'secert')}}]`, /did you mean `secret`\?$/m],
  [
    'server: {mode: gateway}',
    /`server\.mode` is `gateway`, so every tool call is blocked.*set `policy\.undeclared_tools: allow`\.$/m,
  ],
  ['server: {prot: 80}', /unknown key `server\.prot`; did you mean `port`\?/],
  ['server: {mode: standalone}', /it is the string `standalone`; did you mean `sidecar`\?/],
  ['server: {host: "http://localhost"}', /must be an IP address or the name of a host, without a port/],
  ['server: {cors_origins: "*"}', /must be a list; it is the string `\*`\. Write `\[\*\]`/],
  ['audit: {max_age_days: 90d}', /it is the string `90d`\. Write the number alone, in days/],
  ['audit: {max_size_mb: -1}', /from 1 to 1048576; it is `-1`/],
  ['policy: {default_action: deny}', /it is the string `deny`; did you mean `block`\?/],
  ['pii_protection: {action: mask}', /it is the string `mask`; did you mean `redact`\?/],
  ['log: {level: verbose}', /it is the string `verbose`; did you mean `debug`\?/],
  ['metrics: {endpoint: metrics}', /must be a path that begins with `\/`/],
  ['budgets: []', /unknown key `budgets`; did you mean `cost\.budgets`\?/],
  ['proxy: {api_key: a}', /unknown key `proxy\.api_key`; did you mean `proxy\.providers\[\]\.api_key`\?/],
  ['cost: {budgets: [{name: a, limit: 5}]}', /did you mean `limit_usd`\?/],
  ['alerts: {channels: [{type: slack}]}', /it is the string `slack`; did you mean `chat-webhook`\?/],
  ['proxy: {target: api.openai.com}', /must be an address that begins with `http:\/\/` or `https:\/\/`/],
  [
    'proxy: {target: "https://a.example", timeout_seconds: 30s}',
    /`30s`\. Write the number alone, in seconds/,
  ],
  ['storage: {url: "mysql://db/x"}', /must begin with `sqlite:`, `postgres:\/\/`/],
  ['secrets: {backend: vault}', /`secrets\.vault` is missing; `secrets\.backend: vault` needs it/],
  [
    'secrets: {backend: plugin, plugin: {from: x.mjs, driver: filez}}',
    /names no plug-in of `plugins\.files`/,
  ],
  ['intelligence: {enabled: true}', /`intelligence\.backend` is missing/],
  ['\tserver: {}', /not valid YAML at line 1, column 1: Tabs are not allowed/],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own reference is meant.
  ['server: {host: "${NOT_SET}"}', /needs the environment variable `NOT_SET`, which is not set/],
];

test('typical mistakes are named with their place, value and fix', async () => {
  await withFolder(async (cwd) => {
    for (const [text, ...stated] of expectRows(46, MISTAKES)) {
      await writeFile(join(cwd, 'service.yaml'), `${text}\n`);
      const { stdout } = await runInProcess(['validate', '--json'], { cwd });
      const { problems, warnings } = JSON.parse(stdout);
      const messages = [...problems, ...warnings].map((each: { message: string }) => each.message).join('\n');
      for (const pattern of stated) assert.match(messages, pattern, text);
    }
  });
});

test('a value that may be a credential is described, and not repeated', async () => {
  const key = ['sk', 'ABCDEF1234567890'].join('-');
  await withFolder(async (cwd) => {
    for (const place of [
      'server: {mode: V}',
      'server: {port: V}',
      `policies: [{${RULE.replace('block', 'V')}}]`,
    ]) {
      await writeFile(join(cwd, 'service.yaml'), place.replace('V', key));
      const { stdout, code } = await runInProcess(['validate', '--json'], { cwd });
      assert.equal(code, 1);
      assert.ok(!stdout.includes(key), place);
      assert.match(stdout, /a string of 19 characters/, place);
    }
  });
});
