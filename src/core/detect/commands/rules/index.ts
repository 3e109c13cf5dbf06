import { credentials } from './credentials.ts';
import { database } from './database.ts';
import { deletion } from './deletion.ts';
import { discovery } from './discovery.ts';
import { execution } from './execution.ts';
import { filesystem } from './filesystem.ts';
import { git } from './git.ts';
import { guard } from './guard.ts';
import { logTampering } from './log-tampering.ts';
import { network } from './network.ts';
import { persistence } from './persistence.ts';
import { privilege } from './privilege.ts';
import type { CommandRule } from './rule.ts';
import { supplyChain } from './supply-chain.ts';
import { system } from './system.ts';
import { windows } from './windows.ts';

/** All rules about commands, in the order of their files. */
export const commandRules: readonly CommandRule[] = [
  ...credentials,
  ...database,
  ...deletion,
  ...discovery,
  ...execution,
  ...filesystem,
  ...git,
  ...guard,
  ...logTampering,
  ...network,
  ...persistence,
  ...privilege,
  ...supplyChain,
  ...system,
  ...windows,
];
