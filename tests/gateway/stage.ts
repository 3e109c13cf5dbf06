/** Provider, clients and LLM proxy of one test file, and tables of scenarios that run on all lanes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import { type Provider, startProvider } from '../support/provider/provider.ts';
import type { TestService } from '../support/service.ts';
import { type Clients, missingFor, openClients } from './clients.ts';
import { type GatewayOptions, startGateway } from './gateway.ts';
import { type Lane, nameOf } from './lanes.ts';
import { check, KEY, type Outcome, run } from './runs.ts';
import type { Scenario } from './scenarios.ts';

export interface Stage {
  readonly provider: Provider;
  readonly clients: Clients;
  /** The service with the LLM proxy. It is available inside tests. */
  readonly service: () => TestService;
}

/** Sets up the resources of a test file and closes them after its last test. */
export async function openStage(options: (provider: Provider) => GatewayOptions): Promise<Stage> {
  const provider = await startProvider({ keys: [KEY] });
  const clients = openClients();
  let service: TestService | null = null;
  before(async () => {
    service = await startGateway(provider, options(provider));
  });
  after(async () => {
    clients.close();
    await service?.stop();
    await provider.close();
  });
  return { provider, clients, service: () => service! };
}

export type Look = (lane: Lane, scenario: Scenario, outcome: Outcome) => void;

export interface Table {
  readonly provider: Provider;
  readonly clients: Clients;
  readonly base_url: string;
  readonly lanes: readonly Lane[];
  readonly scenariosOf: (lane: Lane) => readonly Scenario[];
  /** Checks each outcome, in addition to the expectations of the scenario. */
  readonly look?: Look;
}

/**
 * Runs all scenarios of all lanes, the lanes concurrently. If a client is not available, its lanes are skipped by name.
 */
export async function runTable(t: TestContext, table: Table): Promise<void> {
  const { provider, clients, base_url, lanes, scenariosOf, look } = table;
  const runLane = async (lane: Lane): Promise<void> => {
    for (const scenario of scenariosOf(lane)) {
      const outcome = await run({ clients, provider, base_url }, lane, scenario);
      try {
        check(scenario, lane, outcome);
        look?.(lane, scenario, outcome);
      } catch (error) {
        throw new Error(`${nameOf(lane)}: ${scenario.name}: ${(error as Error).message}`, { cause: error });
      }
    }
  };
  await Promise.all(
    lanes.map((lane) =>
      t.test(nameOf(lane), { skip: missingFor(lane.client) ?? false }, () => runLane(lane)),
    ),
  );
  assert.deepEqual(provider.complaints(), []);
}

/** Sends a request to the service itself, as its operator. */
export async function askOperator(
  { url, state_dir }: TestService,
  path: string,
  body: unknown = null,
): Promise<{ readonly status: number; readonly answer: Readonly<Record<string, unknown>> }> {
  const authorization = `Bearer ${readFileSync(join(state_dir, 'operator-token'), 'utf8').trim()}`;
  const headers = { authorization, 'content-type': 'application/json', 'x-service-user': 'admin' };
  const init = body === null ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, init);
  return { status: answer.status, answer: (await answer.json()) as Readonly<Record<string, unknown>> };
}
