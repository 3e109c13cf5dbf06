/** A process of the service. */
export interface ServingProcess {
  /** `supervisor`, or the name of the worker, which also names its journal. */
  readonly name: string;
  readonly pid: number;
  /** In milliseconds since 1970. */
  readonly started_ms: number;
  /** The generation of the policy that the process uses; `null` if it did not answer in time. */
  readonly generation: number | null;
}

/** The processes of a service, and its active policy. */
export interface ServiceProcesses {
  readonly policy_hash: string;
  readonly generation: number;
  readonly supervisor: ServingProcess;
  readonly workers: readonly ServingProcess[];
}

/** The parts that a configuration connects to the service. */
export const DRIVER_KINDS = [
  'store',
  'secrets',
  'alert_channel',
  'approval_webhook',
  'identity',
  'telemetry',
  'advisor',
  'classifier',
] as const;

/**
 * `ok`: it answered. `failing`: it did not, or refused. `unchecked`: nothing has used it yet, and a check would cost or
 * send something. `off`: it is not configured.
 */
export const DRIVER_STATUSES = ['ok', 'failing', 'unchecked', 'off'] as const;

/** The state of one part outside the service. It holds no credential and no address. */
export interface DriverState {
  readonly kind: (typeof DRIVER_KINDS)[number];
  /** The name in the configuration, or that of the driver. */
  readonly name: string;
  /** The driver: `sqlite`, `vault`, `webhook`; `null` if none is configured. */
  readonly driver: string | null;
  readonly status: (typeof DRIVER_STATUSES)[number];
  /** One sentence about the status; `null` if there is nothing to add. */
  readonly detail: string | null;
}
