import { codingAgent } from './coding-agent.ts';
import { finance } from './finance.ts';
import { healthcare } from './healthcare.ts';
import { lethalTrifecta } from './lethal-trifecta.ts';
import type { PolicyPack } from './policy-pack.ts';
import { support } from './support.ts';

export type { PolicyPack } from './policy-pack.ts';

/** All policy packs, in the order of their files. */
export const policyPacks: readonly PolicyPack[] = [codingAgent, finance, healthcare, lethalTrifecta, support];
