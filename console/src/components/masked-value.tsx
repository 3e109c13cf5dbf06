/** Shows that a value was found, by its length or shape alone. The value itself never reaches the browser. */
export function MaskedValue({ label, length }: { readonly label: string; readonly length?: number }) {
  const dots = '•'.repeat(Math.min(length ?? 8, 24));
  return (
    <span className="masked" title={length === undefined ? label : `${label}, ${length} characters`}>
      <span aria-hidden="true">{dots}</span>
      <span className="masked-label">{label}</span>
    </span>
  );
}
