"""Byte strings: Unicode, numbers, splitting, regular expressions and hashes."""
