import { RACERS, type Racer } from '../../../platform/store/testing/races.ts';
import { openCapabilities } from '../capabilities.ts';
import { createCapabilityParts } from './parts.ts';

export interface RaceInput {
  readonly tokens: readonly { readonly token: string; readonly token_id: string }[];
  readonly tool: string;
}

/** A use and its result. Times are of the machine's clock, which all processes share. */
export interface TokenUse {
  readonly token_id: string;
  readonly began_ns: bigint;
  readonly ended_ns: bigint;
  readonly taken: boolean;
}

export interface Outcome {
  readonly uses: readonly TokenUse[];
  readonly revoked: readonly {
    readonly token_id: string;
    readonly answered_ns: bigint;
    readonly ended: boolean;
  }[];
}

const USES_EACH = 6;

/** Even racers use every token several times. Odd racers revoke all tokens, each in a different order. */
export default async function raceUses({ store, number, input }: Racer<RaceInput>): Promise<Outcome> {
  const capabilities = openCapabilities(createCapabilityParts(store).parts);
  const uses: TokenUse[] = [];
  const revoked: Outcome['revoked'][number][] = [];
  const from = Math.floor((number * input.tokens.length) / RACERS);
  const tokens = [...input.tokens.slice(from), ...input.tokens.slice(0, from)];
  for (const { token, token_id } of tokens) {
    if (number % 2 === 1) {
      const answer = await capabilities.revoke(token_id, `racer-${number}`, () => true);
      revoked.push({ token_id, answered_ns: process.hrtime.bigint(), ended: answer?.ended ?? false });
      continue;
    }
    for (let count = 0; count < USES_EACH; count += 1) {
      const beganNs = process.hrtime.bigint();
      const { taken } = await capabilities.use({ ...buildPresentation(input.tool), token });
      uses.push({ token_id, began_ns: beganNs, ended_ns: process.hrtime.bigint(), taken });
    }
  }
  return { uses, revoked };
}

function buildPresentation(tool: string) {
  return {
    tenant_id: 'default',
    agent_id: 'bot',
    session_id: null,
    tool,
    action: 'invoke',
    secret_key: null,
    caller_id: 'racer',
    has_credential: true,
  };
}
