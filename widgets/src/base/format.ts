// Numbers as text. The browser's own formatter takes 20 ms at its first use, during the first picture.

/** 12345 as "12,345". */
export const digits = (n: number): string => `${n}`.replace(/\B(?=(\d{3})+$)/g, ",");

/** "1 op", "12,345 ops". */
export const count = (n: number, word: string): string => `${digits(n)} ${word}${n === 1 ? "" : "s"}`;

/** A size like "512 B" or "1.50 MiB", as the kernel writes it. */
export function bytesText(size: number): string {
  if (Math.abs(size) < 1024) return `${Math.round(size)} B`;
  for (const unit of ["KiB", "MiB", "GiB"]) {
    size /= 1024;
    if (Math.abs(size) < 1024) return `${size.toFixed(2)} ${unit}`;
  }
  return `${(size / 1024).toFixed(2)} TiB`;
}

/** Microseconds as "12 µs", "3.40 ms" or "1.20 s". */
export function timeText(us: number): string {
  if (Math.abs(us) < 1000) return `${us < 10 && us > 0 ? us.toFixed(1) : Math.round(us)} µs`;
  return Math.abs(us) < 1e6 ? `${(us / 1000).toFixed(2)} ms` : `${(us / 1e6).toFixed(2)} s`;
}
