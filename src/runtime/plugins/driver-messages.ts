/** The input of a thread that runs a driver. */
export interface DriverData {
  /** The URL of the plug-in's file, as `import` expects it. */
  readonly href: string;
  readonly driver: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** A request to the thread. */
export type DriverRequest =
  | { readonly id: number; readonly ask: 'get' | 'check'; readonly key: string }
  /** The caller no longer waits for the answer. */
  | { readonly id: number; readonly ask: 'leave' };

/** A message of the thread. The driver's code could send it too, so it is untrusted input. */
export type DriverResponse =
  | { readonly opened: true }
  | { readonly opened: false; readonly code: string }
  | { readonly id: number; readonly value: string | null }
  | { readonly id: number; readonly code: string }
  | { readonly id: number; readonly left: true };
