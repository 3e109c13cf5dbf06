/** The syntax tree of a JSON text. Positions are UTF-16 offsets into the text. */

/** One value of a JSON text with its position, end exclusive. Duplicate members are all kept, in their order. */
export type JsonNode =
  | {
      readonly kind: 'object';
      readonly start: number;
      readonly end: number;
      readonly members: readonly JsonMember[];
    }
  | {
      readonly kind: 'array';
      readonly start: number;
      readonly end: number;
      readonly items: readonly JsonNode[];
    }
  | StringNode
  | NumberNode
  | { readonly kind: 'true' | 'false' | 'null'; readonly start: number; readonly end: number };

/** Error for a text that is not valid JSON or exceeds a limit. It holds the position and never any text. */
export interface JsonParseError {
  readonly kind: 'problem';
  readonly reason: 'malformed' | 'depth_max' | 'nodes_max';
  readonly at: number;
}

/** A number as the nearest double. The exact digits are in the text. */
export interface NumberNode {
  readonly kind: 'number';
  readonly start: number;
  readonly end: number;
  readonly value: number;
}

/** A string with its escapes decoded. `start` is at the opening quote, `end` is after the closing quote. */
export interface StringNode {
  readonly kind: 'string';
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

export interface JsonMember {
  readonly key: StringNode;
  readonly value: JsonNode;
}

/** A JSON value and the text that contains it. The text may hold more than the value. */
export interface JsonSource {
  readonly text: string;
  readonly root: JsonNode;
}

/** Replaces a range of a text, end exclusive. The splices of one text must not overlap. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}
