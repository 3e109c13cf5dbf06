import { alertChannelDrivers } from '../../drivers/alerts/index.ts';

const name = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description: 'The name of this channel in rules. Default: its type.',
} as const;

type DriverRecord = (typeof alertChannelDrivers)[number];
type ChannelSchema<Driver> = Driver extends DriverRecord
  ? {
      readonly type: 'object';
      readonly description: string;
      readonly additionalProperties: false;
      readonly required: readonly ['type', ...Driver['schema']['required']];
      readonly properties: {
        readonly type: { readonly type: 'string'; readonly const: Driver['name'] };
        readonly name: typeof name;
      } & Driver['schema']['properties'];
    }
  : never;
type ChannelSchemas<Drivers extends readonly unknown[]> = {
  readonly [At in keyof Drivers]: ChannelSchema<Drivers[At]>;
};

const channelSchemas = alertChannelDrivers.map(({ name: type, schema }) => ({
  type: 'object',
  description: schema.description,
  additionalProperties: false,
  required: ['type', ...schema.required],
  properties: { type: { type: 'string', const: type }, name, ...schema.properties },
})) as unknown as ChannelSchemas<typeof alertChannelDrivers>;

/** One channel of `alerts.channels`; `type` selects the schema. */
export const alertChannelSchema = { oneOf: channelSchemas } as const;
