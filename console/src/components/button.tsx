import type { ComponentProps } from 'react';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  readonly look?: 'primary' | 'danger' | 'quiet' | undefined;
  readonly is_small?: boolean;
}

/** A button that submits nothing, unless its type says so. */
export function Button({ look, is_small = false, type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`button ${look ?? ''} ${is_small ? 'small' : ''}`} {...rest} />;
}
