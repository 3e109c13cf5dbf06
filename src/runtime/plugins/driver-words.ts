/** What a thread with a driver is begun with. */
export interface DriverData {
  /** The plug-in's file, as `import` takes it. */
  readonly href: string;
  readonly driver: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** What is asked of the thread. */
export type DriverRequest =
  | { readonly id: number; readonly ask: 'get' | 'check'; readonly key: string }
  /** Nobody waits for the answer any more. */
  | { readonly id: number; readonly ask: 'leave' };

/** What the thread says. A driver's code could say it in its place, so that it is taken as a stranger's words. */
export type DriverResponse =
  | { readonly opened: true }
  | { readonly opened: false; readonly code: string }
  | { readonly id: number; readonly value: string | null }
  | { readonly id: number; readonly code: string }
  | { readonly id: number; readonly left: true };
