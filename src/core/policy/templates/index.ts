import { codingAgent } from './coding-agent.ts';
import { finance } from './finance.ts';
import { healthcare } from './healthcare.ts';
import { lethalTrifecta } from './lethal-trifecta.ts';
import { support } from './support.ts';
import type { Template } from './template.ts';

export type { Template } from './template.ts';

/** All policy packs, in the order of their files. */
export const templates: readonly Template[] = [codingAgent, finance, healthcare, lethalTrifecta, support];
