import type { Static } from 'typebox';
import { buildSection, Type } from '../../core/schema.ts';
import { alertChannelDrivers } from '../../drivers/alerts/index.ts';

const name = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'The name of this channel in rules. Default: its type.',
});

type Driver = (typeof alertChannelDrivers)[number];
type Channel<Each> = Each extends Driver
  ? { readonly type: Each['name']; readonly name?: string } & Static<Each['schema']>
  : never;

/** One channel of `alerts.channels`; `type` selects the schema. */
export const alertChannelSchema = Type.Unsafe<Channel<Driver>>({
  oneOf: alertChannelDrivers.map(({ name: type, schema: { description, properties } }) =>
    buildSection(
      { type: Type.Literal(type, { type: 'string' }), name: Type.Optional(name), ...properties },
      { description },
    ),
  ),
});
