// Numbers as words. The browser's own formatter takes 20 ms when it is first asked, in the middle of a first picture.

/** 12345 as "12,345". */
export const digits = (n: number): string => `${n}`.replace(/\B(?=(\d{3})+$)/g, ",");

/** "1 op", "12,345 ops". */
export const count = (n: number, word: string): string => `${digits(n)} ${word}${n === 1 ? "" : "s"}`;
