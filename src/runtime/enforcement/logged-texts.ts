import type { Config } from '../config/index.ts';

/** Which redacted texts and shapes of arguments the audit log contains. */
export interface LoggedTexts {
  readonly inputs: boolean;
  readonly outputs: boolean;
  /** Patterns of tools whose calls are recorded with the names, types and ranges of their arguments (default: none). */
  readonly argument_shapes?: readonly string[];
  /** Which calls are recorded as people see them (default: none). */
  readonly actions?: Config['audit']['log_actions'];
  /** Telemetry contains these calls too (default: no). */
  readonly exports_actions?: boolean;
}

/** Returns what `audit.log_actions`, `export_actions`, `log_inputs`, `log_outputs` and `log_argument_shapes` ask for. */
export function readLoggedTexts({
  log_actions,
  export_actions,
  log_inputs,
  log_outputs,
  log_argument_shapes,
}: Config['audit']): LoggedTexts {
  return {
    actions: log_actions,
    exports_actions: export_actions,
    inputs: log_inputs,
    outputs: log_outputs,
    argument_shapes: log_argument_shapes,
  };
}
