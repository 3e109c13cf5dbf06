/** Limits the number of label values: returns a name if it is one of the first `most` names, else `other`. */
export function limitNames(most: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= most || !PLAIN.test(name)) return OTHER;
    known.add(name);
    return name;
  };
}

/** Returns the name of a model, a response or a reason, if it has the form of a name; else `other`. */
export function sanitizeName(name: string): string {
  return PLAIN.test(name) ? name : OTHER;
}

const PLAIN = /^[\w./:@+-]{1,128}$/;
const OTHER = 'other';
