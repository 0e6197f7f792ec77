/** A size for people: "512 B", "1.50 MiB", as the kernel writes it. */
export function bytesText(size: number): string {
  if (Math.abs(size) < 1024) return `${Math.round(size)} B`;
  for (const unit of ["KiB", "MiB", "GiB"]) {
    size /= 1024;
    if (Math.abs(size) < 1024) return `${size.toFixed(2)} ${unit}`;
  }
  return `${(size / 1024).toFixed(2)} TiB`;
}
