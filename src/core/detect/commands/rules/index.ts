import { attackToolRules } from './attack-tools.ts';
import { collectionRules } from './collection.ts';
import { credentialRules } from './credentials.ts';
import { databaseRules } from './database.ts';
import { deletionRules } from './deletion.ts';
import { discoveryRules } from './discovery.ts';
import { executionRules } from './execution.ts';
import { filesystemRules } from './filesystem.ts';
import { gitRules } from './git.ts';
import { guardRules } from './guard.ts';
import { logTamperingRules } from './log-tampering.ts';
import { networkRules } from './network.ts';
import { persistenceRules } from './persistence.ts';
import { powershellRules } from './powershell.ts';
import { privilegeRules } from './privilege.ts';
import { redactionRules } from './redaction.ts';
import type { CommandRule } from './rule.ts';
import { settingsRules } from './settings.ts';
import { signedProgramRules } from './signed-programs.ts';
import { supplyChainRules } from './supply-chain.ts';
import { systemRules } from './system.ts';
import { windowsRules } from './windows.ts';
import { windowsAccessRules } from './windows-access.ts';

export const commandRules: readonly CommandRule[] = [
  ...attackToolRules,
  ...collectionRules,
  ...credentialRules,
  ...databaseRules,
  ...deletionRules,
  ...discoveryRules,
  ...executionRules,
  ...filesystemRules,
  ...gitRules,
  ...guardRules,
  ...logTamperingRules,
  ...networkRules,
  ...persistenceRules,
  ...powershellRules,
  ...privilegeRules,
  ...redactionRules,
  ...settingsRules,
  ...signedProgramRules,
  ...supplyChainRules,
  ...systemRules,
  ...windowsAccessRules,
  ...windowsRules,
];
