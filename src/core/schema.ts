import type { Static, TSchema, TUnsafe } from 'typebox';

/** A JSON Schema. TypeBox's `Static` returns `Value`, the type that it describes. */
export interface Schema<Value> extends TUnsafe<Value> {
  readonly description?: string;
}

/** An object schema, with its members' schemas. */
export interface ObjectSchema<Members extends SchemaMembers> extends Schema<ObjectValue<Members>> {
  readonly properties: Members;
}

/** Keywords that do not change the type, such as `description` and `maxLength`. */
type Keywords = Readonly<Record<string, unknown>>;
export type SchemaMembers = Readonly<Record<string, TSchema>>;
type Constant = string | number | boolean | null;

const OPTIONAL = Symbol('optional');
/** The mark for an optional member, which the packages' type declarations name. */
export interface Optional {
  readonly [OPTIONAL]: true;
}

/** The object type with these members. */
export type ObjectValue<Members> = Flat<
  {
    readonly [Name in keyof Members as Members[Name] extends Optional ? never : Name]: ValueOf<Members[Name]>;
  } & {
    readonly [Name in keyof Members as Members[Name] extends Optional ? Name : never]?: ValueOf<
      Members[Name]
    >;
  }
>;
type ValueOf<Member> = Member extends TSchema ? Static<Member> : never;
/** Shows an intersection as one object. */
type Flat<Value> = { [Name in keyof Value]: Value[Name] } & {};

/**
 * Builds JSON Schemas (2020-12). The functions have the names and arguments of TypeBox's builder. They return plain objects, because
 * every start builds all operations' schemas: TypeBox's own builder takes 18 ms for them, this one takes 2 ms.
 */
export const Type = {
  String: (keywords?: Keywords) => build<string>({ type: 'string', ...keywords }),
  Integer: (keywords?: Keywords) => build<number>({ type: 'integer', ...keywords }),
  Number: (keywords?: Keywords) => build<number>({ type: 'number', ...keywords }),
  Boolean: (keywords?: Keywords) => build<boolean>({ type: 'boolean', ...keywords }),
  Null: () => build<null>({ type: 'null' }),
  /** A schema whose type the caller names. */
  Unsafe: <Value>(schema: object) => build<Value>(schema),
  Unknown: (keywords?: Keywords) => build<unknown>({ ...keywords }),
  Literal: <const Value extends Constant>(value: Value, keywords?: Keywords) =>
    build<Value>({ const: value, ...keywords }),
  Enum: <const Values extends readonly Constant[]>(values: Values, keywords?: Keywords) =>
    build<Values[number]>({ enum: values, ...keywords }),
  Array: <Item extends TSchema>(items: Item, keywords?: Keywords) =>
    build<readonly Static<Item>[]>({ type: 'array', items, ...keywords }),
  Union: <const Choices extends readonly TSchema[]>(choices: Choices, keywords?: Keywords) =>
    build<Static<Choices[number]>>({ anyOf: choices, ...keywords }),
  /** An object with any member names. */
  Record: <Value extends TSchema>(_name: Schema<string>, value: Value, keywords?: Keywords) =>
    build<Readonly<Record<string, Static<Value>>>>({
      type: 'object',
      additionalProperties: value,
      ...keywords,
    }),
  /** An object whose members are present unless they are optional. */
  Object: <const Members extends SchemaMembers>(properties: Members, keywords?: Keywords) =>
    buildObject(properties, keywords, (member) => !isOptional(member)),
  /** A member that may be absent. */
  Optional: <Member extends TSchema>(member: Member): Member & Optional => ({ ...member, [OPTIONAL]: true }),
  /** Permits `null` too. The schema has a type, or lists its values. */
  Nullable: <Value>(schema: Schema<Value>, keywords?: Keywords): Schema<Value | null> => {
    const { enum: values, type }: TypeKeywords = schema;
    return build<Value | null>({
      ...schema,
      ...keywords,
      ...(values !== undefined && { enum: addOnce(values, null) }),
      ...(type !== undefined && { type: addOnce([type].flat(), 'null') }),
    });
  },
};

/** Builds the schema for one text from `values`. */
export function buildEnum<const Values extends readonly string[]>(
  values: Values,
  keywords?: Keywords,
): Schema<Values[number]> {
  return Type.Enum(values, { type: 'string', ...keywords });
}

/**
 * Builds an object schema of settings: it has no other members, and a member with a default may be left out, because
 * the parsed value has it.
 */
export function buildSection<const Members extends SchemaMembers>(
  properties: Members,
  keywords?: Keywords,
): ObjectSchema<Members> {
  const isRequired = (member: TSchema): boolean => !isOptional(member) && !('default' in member);
  return buildObject(properties, { additionalProperties: false, ...keywords }, isRequired);
}

interface TypeKeywords {
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
}

function addOnce<Item>(list: readonly Item[], item: Item): readonly Item[] {
  return list.includes(item) ? list : [...list, item];
}

function buildObject<const Members extends SchemaMembers>(
  properties: Members,
  keywords: Keywords | undefined,
  isRequired: (member: TSchema) => boolean,
): ObjectSchema<Members> {
  const required = Object.keys(properties).filter((name) => isRequired(properties[name]!));
  const needed = required.length === 0 ? {} : { required };
  const schema = { type: 'object', ...keywords, ...needed, properties };
  return build<ObjectValue<Members>>(schema) as ObjectSchema<Members>;
}

function build<Value>(keywords: object): Schema<Value> {
  return keywords as Schema<Value>;
}

function isOptional(member: TSchema): boolean {
  return OPTIONAL in member;
}
