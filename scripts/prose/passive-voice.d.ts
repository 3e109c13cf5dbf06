declare module 'passive-voice' {
  /** Finds passive voice; `offset` is the length of the match. */
  export default function findPassive(text: string): { readonly index: number; readonly offset: number }[];
}
