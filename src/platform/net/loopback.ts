/** 127.0.0.0/8, `::1`, and the former written as IPv6. */
export function isLoopback(address: string): boolean {
  return address === '127.0.0.1' || address === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/i.test(address);
}

/** Whether a bind host can be reached from this machine only. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name);
}
