import type { Config } from '../config/index.ts';

/** Which redacted texts and shapes of arguments the audit log contains. */
export interface LoggedTexts {
  readonly inputs: boolean;
  readonly outputs: boolean;
  /** Patterns of tools whose calls are recorded with the names, types and ranges of their arguments (default: none). */
  readonly argument_shapes?: readonly string[];
}

/** Returns what `audit.log_inputs`, `log_outputs` and `log_argument_shapes` ask for. */
export function readLoggedTexts({
  log_inputs,
  log_outputs,
  log_argument_shapes,
}: Config['audit']): LoggedTexts {
  return { inputs: log_inputs, outputs: log_outputs, argument_shapes: log_argument_shapes };
}
