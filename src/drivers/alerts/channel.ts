import type { ObjectSchema, SchemaMembers } from '../../core/schema.ts';

/** The message of a channel about one alert. Of what detectors match, it contains dangerous commands only. */
export interface AlertMessage {
  /** Stable for all attempts of one delivery, so that a receiver recognises a duplicate. */
  readonly delivery_id: string;
  readonly alert_id: string;
  readonly kind: 'trigger' | 'acknowledge' | 'resolve' | 'test';
  /** Stable for all messages of one alert, so that a receiver updates what it opened. */
  readonly dedup_key: string;
  readonly rule_id: string;
  readonly rule_name: string;
  readonly severity: 'critical' | 'high' | 'medium' | 'low';
  /** One sentence. */
  readonly summary: string;
  /** The name of this service. */
  readonly source: string;
  readonly tenant_ids: readonly string[];
  readonly group: Readonly<Record<string, string>>;
  readonly count: number;
  readonly threshold: number;
  readonly window_ms: number;
  /** ISO 8601, as `last_at`. */
  readonly first_at: string;
  readonly last_at: string;
  readonly sample_event_ids: readonly string[];
  /** The newest blocked or held call, with secrets, personal data and injections masked. Only in a `trigger`. */
  readonly action_shown: string | null;
  /** Its dangerous parts, in UTF-16 units. */
  readonly action_marks: readonly (readonly [start: number, end: number])[];
  /** The alert or the approval in the console. */
  readonly url: string | null;
  readonly approval: {
    readonly request_id: string;
    readonly tool: string;
    readonly agent_id: string;
    readonly expires_at: string;
    readonly url: string;
  } | null;
}

/**
 * The outcome of one attempt. `reason` is one sentence without credentials and without anything of the receiver's
 * response. `permanent` means that another attempt fails too until a setting is changed.
 */
export type DeliveryResult =
  | { readonly sent: true }
  | {
      readonly sent: false;
      readonly reason: string;
      readonly permanent: boolean;
      readonly retry_after_ms?: number;
    };

/** A destination of alerts. */
export interface AlertChannel {
  /** Makes one attempt. Ends when `signal` is aborted. Never rejects. */
  readonly send: (message: AlertMessage, signal: AbortSignal) => Promise<DeliveryResult>;
  readonly close: () => void | Promise<void>;
}

/** The parts of the process that a channel uses. */
export interface ChannelEnvironment {
  /** Holds the variables of a proxy, such as `HTTPS_PROXY`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Unix time in milliseconds. */
  readonly now_ms: () => number;
}

/**
 * One kind of alert channel. The enum, the schema and the documentation of `alerts.channels` are derived from the list
 * of these records.
 */
export interface AlertChannelDriver<Section = never> {
  /** The value of `alerts.channels[].type`. */
  readonly name: string;
  /** The configuration schema of the channel, without `type` and `name`, which every channel has. */
  readonly schema: ObjectSchema<SchemaMembers>;
  /** The row of the documentation: the receiver, and what happens there when an alert ends. */
  readonly docs: { readonly receiver: string; readonly ends: string };
  /** The setting whose address gets the messages and the credential. */
  readonly address_key?: string;
  /** Opens nothing yet: a channel connects with its first message. */
  readonly open: (section: Section, environment: ChannelEnvironment) => AlertChannel;
}
