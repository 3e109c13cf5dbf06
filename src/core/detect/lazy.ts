/**
 * Functions of modules that most processes never need. In the built program each module that is imported here
 * runs at the first call of one of its functions (scripts/build/lazy-modules.ts), so that a process that judges one
 * short text does not wait for it.
 */

import type { ToolCall } from '../types/crossing.ts';
import type { Crossing, CustomPattern, Detection, ScanLimits, Tag } from '../types/index.ts';
import { describeCommandRule } from './commands/explain-rule.ts';
import type { FoundCommands, PayloadReader } from './commands/in-payload.ts';
import { commandTextDetectors, findSevereRules } from './commands/in-text.ts';
import type { CommandRule } from './commands/rules/rule.ts';
import { createToolCallReader } from './commands/tool-call.ts';
import { collectToolFacts } from './facts/facts.ts';
import { buildGuardView } from './guard/paths.ts';
import { buildCustomDetector } from './matching/custom/custom-detector.ts';
import type { Detector } from './matching/detector.ts';

/** Calls `createToolCallReader` (commands/tool-call.ts). */
export function createPayloadReaderOnDemand(
  give: (found: FoundCommands) => void,
  { guarded_paths, command_wrappers }: Pick<Detection, 'guarded_paths' | 'command_wrappers'>,
  call: ToolCall | null,
): PayloadReader {
  const view = buildGuardView(guarded_paths, call?.working_dir);
  const guard = command_wrappers === undefined ? view : { ...view, wrappers: command_wrappers };
  return createToolCallReader(give, guard, call?.tool ?? null);
}

/** See commands/in-text.ts. */
export function listCommandDetectorsOnDemand(): readonly Detector[] {
  return commandTextDetectors;
}

/** See commands/in-text.ts. */
export function findSevereRulesOnDemand(value: string): readonly CommandRule[] {
  return findSevereRules(value);
}

/** See commands/explain-rule.ts. */
export function describeCommandRuleOnDemand(ruleId: string): string | null {
  return describeCommandRule(ruleId);
}

/** See facts/facts.ts. */
export function collectToolFactsOnDemand(
  { content, tool, working_dir }: Pick<Crossing, 'content' | 'tool' | 'working_dir'>,
  named: readonly Tag[],
  limits: ScanLimits,
): readonly Tag[] | null {
  return collectToolFacts(content, named, limits, { tool, working_dir });
}

/** See matching/custom/custom-detector.ts. */
export function buildCustomDetectorOnDemand(pattern: CustomPattern): Detector {
  return buildCustomDetector(pattern);
}
