/**
 * The subset of JSON Schema that describes the configuration, and the type of a validated value. The schema is plain
 * data, so it does not slow the start down, and editors use the same text.
 */

/** The part of JSON Schema (2020-12) that the configuration is written in. */
export interface ConfigSchema {
  readonly type?: TypeName | readonly TypeName[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Replaces the pattern in messages: "must be the name of an environment variable". */
  readonly 'x-expects'?: string;
  /**
   * `true`: the value is a credential. It must be a `${NAME}` or `${secret:name}` reference, and no message repeats it.
   */
  readonly 'x-credential'?: boolean;
  /** `true`: the text is literal; references such as `${NAME}` in it are not replaced. */
  readonly 'x-verbatim'?: boolean;
  readonly items?: ConfigSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: { readonly [key: string]: ConfigSchema };
  readonly patternProperties?: { readonly [pattern: string]: ConfigSchema };
  readonly required?: readonly string[];
  /** `false`: no keys other than the named ones and `x-*`; a schema: any key, with this value. */
  readonly additionalProperties?: false | ConfigSchema;
  readonly propertyNames?: { readonly pattern: string };
  readonly maxProperties?: number;
  /** The alternatives. Each has a property `type` with a different `const`. */
  readonly oneOf?: readonly ConfigSchema[];
  /** Keys that are required if another key has a given value; written as `if`/`then` for editors. */
  readonly 'x-needs'?: readonly KeyRequirement[];
  readonly $ref?: string;
}

export interface KeyRequirement {
  readonly key: string;
  readonly is: string | boolean;
  /** The key that is then required. */
  readonly needs: string;
}

export type TypeName = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null';
