/**
 * Functions that only a policy with value origins needs. In the built program each module that is imported here runs
 * when one of its functions is first called (scripts/build/lazy-modules.ts).
 */
import type {
  Content,
  Crossing,
  FlowTerms,
  Label,
  ScanLimits,
  ToolContract,
  ValuesChange,
  ValuesSeen,
} from '../types/index.ts';
import type { JsonNode } from '../types/json.ts';
import { listOrigins } from './origins.ts';
import { checkFlow, type FlowCheck } from './sinks.ts';
import { hasForeignValue } from './task-sources.ts';
import { computeValuesChange } from './values-change.ts';

/** Calls `checkFlow` (sinks.ts). */
export function checkFlowOnDemand(
  crossing: Pick<Crossing, 'content' | 'values_seen' | 'task'>,
  contract: ToolContract & { readonly flow: FlowTerms },
): FlowCheck {
  return checkFlow(crossing, contract);
}

/** Calls `computeValuesChange` (values-change.ts). */
export function computeValuesChangeOnDemand(
  crossing: Crossing,
  contract: ToolContract | null,
  limits: ScanLimits,
  keepsSources: boolean,
): ValuesChange | null {
  return computeValuesChange(crossing, contract, limits, keepsSources);
}

/** Calls `listOrigins` (origins.ts). */
export function listOriginsOnDemand(
  argument: { readonly text: string; readonly node: JsonNode },
  seen: ValuesSeen,
): readonly Label[] {
  return listOrigins(argument, seen);
}

/** Calls `hasForeignValue` (task-sources.ts). */
export function hasForeignValueOnDemand(content: Content, seen: ValuesSeen): boolean {
  return hasForeignValue(content, seen);
}
