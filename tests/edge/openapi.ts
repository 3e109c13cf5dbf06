/** openapi-spec-validator and Schemathesis on the HTTP API description, and on the service that serves it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownNodeEnvironment, runProgram } from '../support/checkout.ts';
import { locateEdgeTool } from './environment.ts';

const RUN_MS_MAX = 30 * 60_000;
/** Random cases for each operation; Schemathesis adds each parameter's boundary values. */
const CASES_PER_OPERATION = process.env.EDGE_CASES ?? '5';
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
];

/** Paths that answer 503 with the code `not_configured`, because the tested service has no providers and no models. */
const NOT_CONFIGURED =
  '^/(?:v1beta/|v1/(?:auth/oidc/|chat/|completions|dashboard/intelligence/|embeddings|intelligence/|messages|models|proxy/forward|responses|secrets/|session/passkey))';
/** Operations that are left out, each with its reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  '/v1/events': 'a stream without an end',
};
/** Statuses that refuse an invalid request. 426 and 431 come before its parameters are read. */
const REFUSALS = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 426, 429, 431, 503];

/** A user with all rights, whom operations of the console name in a header. */
export const EDGE_USER = 'edge-admin';

const CONFIG = `
[parameters]
"header.x-service-user" = "${EDGE_USER}"

[checks]
negative_data_rejection.expected-statuses = [${REFUSALS.join(', ')}]

[[operations]]
include-path-regex = '${NOT_CONFIGURED}'
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]
`;

interface SchemathesisReport {
  readonly complete: boolean;
  readonly operations: { readonly tested: number };
  readonly test_cases: { readonly generated: number };
  readonly failures: readonly {
    readonly title: string;
    readonly operations: readonly string[];
  }[];
  readonly errors: readonly unknown[];
}

/** Checks the description, and the service against it with an operator's rights. */
export async function runOpenApiTools(
  url: string,
  operatorToken: string,
  dir: string,
): Promise<{ readonly summary: string; readonly problems: readonly string[] }> {
  const described = join(dir, 'openapi.json');
  writeFileSync(described, await (await fetch(`${url}/openapi.json`)).text());
  const env = ownNodeEnvironment({ HOME: dir });
  const validator = await runProgram([locateEdgeTool('openapi-spec-validator'), described], {
    cwd: dir,
    env,
  });
  const report = join(dir, 'schemathesis.json');
  writeFileSync(join(dir, 'schemathesis.toml'), CONFIG);
  const words = [
    locateEdgeTool('schemathesis'),
    ...['--config-file', join(dir, 'schemathesis.toml'), 'run', described, '--url', url],
    ...['--header', `authorization: Bearer ${operatorToken}`, '--checks', CHECKS.join(',')],
    ...['--phases', 'examples,coverage,fuzzing', '--max-examples', CASES_PER_OPERATION],
    ...['--generation-deterministic', '--continue-on-failure', '--request-timeout', '30', '--no-color'],
    ...['--report', 'json', '--report-json-path', report],
    ...Object.keys(LEFT_OUT).flatMap((path) => ['--exclude-path', path]),
  ];
  const { code, stdout, stderr } = await runProgram(words, { cwd: dir, env, timeout: RUN_MS_MAX });
  if (code === null || code > 1)
    throw new Error(`Schemathesis: ${stdout.slice(-2000)}${stderr.slice(-2000)}`);
  const read = JSON.parse(readFileSync(report, 'utf8')) as SchemathesisReport;
  const problems = [
    ...(validator.code === 0 ? [] : [`openapi-spec-validator: ${validator.stdout.slice(0, 1000)}`]),
    ...(read.complete && read.operations.tested > 0 ? [] : ['Schemathesis did not finish']),
    ...read.failures.flatMap(({ title, operations }) => operations.map((each) => `${each}: ${title}`)),
    ...read.errors.map((error) => JSON.stringify(error).slice(0, 300)),
  ];
  if (problems.length > 0) writeFileSync(join(dir, 'schemathesis.log'), stdout);
  const summary = `OpenAPI: ${read.test_cases.generated} requests to ${read.operations.tested} operations`;
  return { summary, problems };
}
